// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_RESERVED_ARRAY_H
#define FABRIC_RESERVED_ARRAY_H

#include <cstddef>
#include <memory>
#include <type_traits>

namespace ns3
{
namespace fabric
{

/// Reserve address space; its pages are zero and come into being when first written.
void* ReserveMemory(size_t bytes);
/// Give back what ReserveMemory reserved.
void ReleaseMemory(void* memory, size_t bytes);
/// Give its pages back: they are zero again, or what memory was frozen with.
void ClearMemory(void* memory, size_t bytes);
/// Give back the pages that lie in a stretch as a whole.
void ClearWholePages(void* memory, size_t bytes);
/// Ask for huge pages: fewer misses in address translation where access is in random order.
void PreferHugePages(void* memory, size_t bytes);
/// Reserve the first of many bytes at a place where the rest can follow. @return how many there are
size_t ReserveFirst(void** memory, size_t bytes, size_t mostBytes);
/// Reserve what follows, up to `bytes` in all.
void ReserveMore(void* memory, size_t reservedBytes, size_t bytes);
/// The same behind memory that was frozen or began with such: a file does not grow.
void ReserveBehind(void* memory, size_t reservedBytes, size_t bytes);

/**
 * @brief What some memory holds at one moment, for other memory to begin with.
 *
 * A page is shared by all that began with it, until one of them writes there and gets its own.
 */
class FrozenMemory
{
  public:
    /// The memory goes on to hold what it held; of its bytes only the first ones are in use.
    FrozenMemory(void* memory, size_t bytes, size_t usedBytes);
    ~FrozenMemory();
    FrozenMemory(const FrozenMemory&) = delete;
    FrozenMemory& operator=(const FrozenMemory&) = delete;
    void MapTo(void* memory) const; ///< Reserved, and as long

  private:
    int m_file;
    size_t m_bytes;
};

/**
 * @brief Array behind one stretch of reserved address space: elements never move.
 *
 * Memory is used only where elements were written; a fresh element is all zero bits.
 */
template <typename T>
class ReservedArray
{
    static_assert(std::is_trivially_destructible_v<T>);

  public:
    explicit ReservedArray(size_t capacity)
        : m_data(static_cast<T*>(ReserveMemory(capacity * sizeof(T)))),
          m_capacity(capacity)
    {
    }

    ~ReservedArray()
    {
        ReleaseMemory(m_data, m_capacity * sizeof(T));
    }

    ReservedArray(const ReservedArray&) = delete;
    ReservedArray& operator=(const ReservedArray&) = delete;

    T& operator[](size_t i)
    {
        return m_data[i];
    }

    const T& operator[](size_t i) const
    {
        return m_data[i];
    }

    T* Data() const
    {
        return m_data;
    }

    size_t Capacity() const
    {
        return m_capacity;
    }

    void Clear() ///< All elements are zero bits and take no memory
    {
        ClearMemory(m_data, m_capacity * sizeof(T));
    }

    void UseHugePages()
    {
        PreferHugePages(m_data, m_capacity * sizeof(T));
    }

    void Freeze() ///< Others may begin with the elements of now
    {
        const size_t bytes = m_capacity * sizeof(T);
        m_frozen = std::make_unique<FrozenMemory>(m_data, bytes, bytes);
    }

    /// Begin with the elements of an array of the same capacity when it was frozen.
    void BeginWith(const ReservedArray& first)
    {
        first.m_frozen->MapTo(m_data);
    }

    /// Take no memory for some elements of an array that was frozen or began with one: they are as
    /// they were then, but for those that share a page with others.
    void Restore(size_t first, size_t n)
    {
        ClearWholePages(m_data + first, n * sizeof(T));
    }

  private:
    T* m_data;
    size_t m_capacity;
    std::unique_ptr<FrozenMemory> m_frozen;
};

/**
 * @brief Array that grows in steps: elements never move, and only what was reserved takes address
 * space, which batch systems limit (`ulimit -v`).
 */
template <typename T>
class GrowingArray
{
    static_assert(std::is_trivially_destructible_v<T>);

  public:
    /**
     * @param step elements that are reserved at first; whole pages
     * @param most elements that there may ever be
     */
    GrowingArray(size_t step, size_t most)
        : m_bytes(ReserveFirst(&m_data, step * sizeof(T), most * sizeof(T)))
    {
    }

    ~GrowingArray()
    {
        ReleaseMemory(m_data, m_bytes);
    }

    GrowingArray(const GrowingArray&) = delete;
    GrowingArray& operator=(const GrowingArray&) = delete;

    T& operator[](size_t i)
    {
        return Data()[i];
    }

    const T& operator[](size_t i) const
    {
        return Data()[i];
    }

    T* Data() const
    {
        return static_cast<T*>(m_data);
    }

    /// Make room for so many elements.
    void Reserve(size_t elements)
    {
        if (elements * sizeof(T) > m_bytes)
        {
            const auto reserve = m_isShared ? &ReserveBehind : &ReserveMore;
            reserve(m_data, m_bytes, elements * sizeof(T));
            m_bytes = elements * sizeof(T);
        }
    }

    void Clear() ///< All elements are zero bits and take no memory
    {
        ClearMemory(m_data, m_bytes);
    }

    void UseHugePages() ///< Also for what will be reserved
    {
        PreferHugePages(m_data, m_bytes);
    }

    void Freeze(size_t elements) ///< Others may begin with those of now
    {
        m_frozen = std::make_unique<FrozenMemory>(m_data, m_bytes, elements * sizeof(T));
        m_frozenBytes = m_bytes;
        m_isShared = true;
    }

    /// Begin with the elements of another array when it was frozen.
    void BeginWith(const GrowingArray& first)
    {
        Reserve(first.m_frozenBytes / sizeof(T));
        first.m_frozen->MapTo(m_data);
        m_isShared = true;
    }

  private:
    void* m_data{nullptr};
    size_t m_bytes; ///< Reserved
    std::unique_ptr<FrozenMemory> m_frozen;
    size_t m_frozenBytes{0};
    bool m_isShared{false}; ///< It was frozen, or began with another one
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_RESERVED_ARRAY_H

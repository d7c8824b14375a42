// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_RESERVED_ARRAY_H
#define FABRIC_RESERVED_ARRAY_H

#include <cstddef>
#include <type_traits>

namespace ns3
{
namespace fabric
{

/// Reserve address space; its pages are zero and come into being when first written.
void* ReserveMemory(size_t bytes);
/// Give back what ReserveMemory reserved.
void ReleaseMemory(void* memory, size_t bytes);
/// Give its pages back: they are zero again.
void ClearMemory(void* memory, size_t bytes);
/// Ask for huge pages: fewer misses in address translation where access is in random order.
void PreferHugePages(void* memory, size_t bytes);
/// Reserve the first of many bytes at a place where the rest can follow. @return how many there are
size_t ReserveFirst(void** memory, size_t bytes, size_t mostBytes);
/// Reserve what follows, up to `bytes` in all.
void ReserveMore(void* memory, size_t reservedBytes, size_t bytes);

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

  private:
    T* m_data;
    size_t m_capacity;
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
            ReserveMore(m_data, m_bytes, elements * sizeof(T));
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

  private:
    void* m_data{nullptr};
    size_t m_bytes; ///< Reserved
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_RESERVED_ARRAY_H

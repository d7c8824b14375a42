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

} // namespace fabric
} // namespace ns3

#endif // FABRIC_RESERVED_ARRAY_H

// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_WIRE_FORMAT_H
#define FABRIC_WIRE_FORMAT_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3
{
namespace fabric
{

/// Bytes as they follow each other on the wire, the most significant of each number first.
class WireBytes
{
  public:
    /// Append the last `bytes` bytes of a number.
    void Put(uint64_t value, uint32_t bytes)
    {
        for (uint32_t left = bytes; left > 0; left--)
        {
            m_bytes.push_back(static_cast<uint8_t>(value >> (8 * (left - 1))));
        }
    }

    void Put(const WireBytes& other)
    {
        m_bytes.insert(m_bytes.end(), other.m_bytes.begin(), other.m_bytes.end());
    }

    void PutZeros(size_t bytes)
    {
        m_bytes.resize(m_bytes.size() + bytes);
    }

    void Clear()
    {
        m_bytes.clear();
    }

    size_t Size() const
    {
        return m_bytes.size();
    }

    const uint8_t* Data() const
    {
        return m_bytes.data();
    }

    uint8_t& operator[](size_t i)
    {
        return m_bytes[i];
    }

  private:
    std::vector<uint8_t> m_bytes;
};

/**
 * @brief What a frame looks like behind its UDP header, as far as its transport can tell.
 *
 * As it is made, nothing is known: a datagram of zeros for the port that RFC 4727 section 6 leaves
 * to experiments.
 */
struct Datagram
{
    uint16_t destinationPort{1021}; ///< UDP
    WireBytes headers;              ///< Between the UDP header and the payload
    /// Makes the last bytes of the datagram from the packet before them, its IP header first
    WireBytes (*seal)(const uint8_t* packet, size_t bytes){nullptr};
    uint32_t sealBytes{0};    ///< How many these are [byte]
    uint32_t paddingBytes{0}; ///< Of the frame, up to the least that Ethernet takes [byte]
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_WIRE_FORMAT_H

// SPDX-License-Identifier: GPL-2.0-only

#ifndef HOST_PACKET_RING_H
#define HOST_PACKET_RING_H

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3
{
namespace fabric
{

/**
 * @ingroup host
 * @brief What is noted of the last copy of each packet in flight, by its number.
 */
template <typename Note>
class PacketRing
{
  public:
    /**
     * @param packet the packet that is sent
     * @param base first packet whose note may still be asked for
     * @param note of this copy
     */
    void Put(uint32_t packet, uint32_t base, const Note& note)
    {
        const size_t span = size_t{packet} - base + 1;
        if (span > m_ring.size())
        {
            std::vector<Note> larger(std::bit_ceil(span));
            for (size_t i = 0; i < m_ring.size(); i++)
            {
                const auto old = static_cast<uint32_t>(base + i);
                larger[old & (larger.size() - 1)] = m_ring[old & (m_ring.size() - 1)];
            }
            m_ring.swap(larger);
        }
        m_ring[packet & (m_ring.size() - 1)] = note;
    }

    /// @return note of a packet that was sent and is not below the base of the last Put
    const Note& Get(uint32_t packet) const
    {
        return m_ring[packet & (m_ring.size() - 1)];
    }

  private:
    std::vector<Note> m_ring; ///< Length is a power of two, at least that of the span
};

} // namespace fabric
} // namespace ns3

#endif // HOST_PACKET_RING_H

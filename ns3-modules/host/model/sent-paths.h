// SPDX-License-Identifier: GPL-2.0-only

#ifndef HOST_SENT_PATHS_H
#define HOST_SENT_PATHS_H

#include "ns3/frame.h"

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
 * @brief By which port and with which entropy the last copy of each packet in flight was sent.
 *
 * Kept only for path selectors that want to know what became of it.
 */
class SentPaths
{
  public:
    struct Path
    {
        PortId port{NO_PORT};
        uint16_t entropy{0};
    };

    /**
     * @param packet the packet that is sent
     * @param base first packet whose path may still be asked for
     * @param path of this copy
     */
    void Put(uint32_t packet, uint32_t base, const Path& path)
    {
        const size_t span = size_t{packet} - base + 1;
        if (span > m_ring.size())
        {
            std::vector<Path> larger(std::bit_ceil(span));
            for (size_t i = 0; i < m_ring.size(); i++)
            {
                const auto old = static_cast<uint32_t>(base + i);
                larger[old & (larger.size() - 1)] = m_ring[old & (m_ring.size() - 1)];
            }
            m_ring.swap(larger);
        }
        m_ring[packet & (m_ring.size() - 1)] = path;
    }

    /// @return path of a packet that was sent and is not below the base of the last Put
    const Path& Get(uint32_t packet) const
    {
        return m_ring[packet & (m_ring.size() - 1)];
    }

  private:
    std::vector<Path> m_ring; ///< Length is a power of two, at least that of the span
};

} // namespace fabric
} // namespace ns3

#endif // HOST_SENT_PATHS_H

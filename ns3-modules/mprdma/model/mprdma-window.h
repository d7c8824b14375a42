// SPDX-License-Identifier: GPL-2.0-only

#ifndef MPRDMA_WINDOW_H
#define MPRDMA_WINDOW_H

#include <algorithm>
#include <cstdint>

namespace ns3
{

/**
 * @ingroup mprdma
 * @brief The one window of an MP-RDMA message, and what it knows of slow paths.
 */
class MpRdmaWindow
{
  public:
    explicit MpRdmaWindow(double packets = 1)
        : m_packets(std::max(1.0, packets))
    {
    }

    /**
     * A packet was answered.
     * @param packet its number
     * @param isCopy it was sent before; the age of its path says nothing
     * @param isMarked it met congestion
     * @param deltaPackets a path is slow if its packet is so far behind the furthest one [packet]
     * @return whether its path may carry the next packet
     */
    bool OnAck(uint32_t packet, bool isCopy, bool isMarked, uint32_t deltaPackets)
    {
        m_furthest = std::max(m_furthest, packet);
        m_packets += isMarked ? -0.5 : 1 / m_packets;
        const bool isSlow = !isCopy && uint64_t{packet} + deltaPackets < m_furthest;
        m_packets = std::max(1.0, isSlow ? m_packets - 1 : m_packets);
        return !isSlow;
    }

    void OnLoss(uint32_t packets) ///< As many marks
    {
        m_packets = std::max(1.0, m_packets - 0.5 * packets);
    }

    void OnTimeout()
    {
        m_packets = 1;
    }

    double Packets() const
    {
        return m_packets;
    }

  private:
    double m_packets;
    uint32_t m_furthest{0}; ///< Packet that was answered
};

} // namespace ns3

#endif // MPRDMA_WINDOW_H

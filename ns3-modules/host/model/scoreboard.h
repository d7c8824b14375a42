// SPDX-License-Identifier: GPL-2.0-only

#ifndef HOST_SCOREBOARD_H
#define HOST_SCOREBOARD_H

#include "packet-window.h"

#include <algorithm>
#include <cstdint>
#include <set>

namespace ns3
{
namespace fabric
{

/**
 * @ingroup host
 * @brief What a sender knows of the packets of one message.
 *
 * Identity: Next() = packets arrived + ToResend() + InFlight(). Selective repeat, a negative
 * acknowledgement of one packet, go-back-N and a timeout are all calls here.
 */
class Scoreboard
{
  public:
    /// A packet to send.
    struct Taken
    {
        uint32_t packet;
        bool again; ///< It was sent before
    };

    void Reset(uint32_t packets)
    {
        *this = {};
        m_packets = packets;
    }

    /// The message has fewer packets, none of which was sent.
    void Shorten(uint32_t packets)
    {
        m_packets -= packets;
    }

    uint32_t Packets() const ///< Of the message
    {
        return m_packets;
    }

    uint32_t Base() const ///< First packet that is not known to have arrived, "snd_una"
    {
        return m_arrived.Base();
    }

    uint32_t Next() const ///< Next packet to send if none is lost, "snd_nxt"
    {
        return m_next;
    }

    uint32_t Highest() const ///< One more than the largest packet ever sent
    {
        return m_highest;
    }

    uint32_t NumArrived() const ///< Known to have arrived
    {
        return m_arrived.Count();
    }

    uint32_t InFlight() const
    {
        return m_next - m_arrived.Count() - ToResend();
    }

    uint32_t ToResend() const ///< Packets taken for lost and not yet sent again
    {
        return static_cast<uint32_t>(m_lost.size());
    }

    bool HasArrived(uint32_t packet) const
    {
        return m_arrived.Contains(packet);
    }

    bool IsInFlight(uint32_t packet) const
    {
        return packet < m_next && !m_arrived.Contains(packet) && m_lost.count(packet) == 0;
    }

    bool HasMore() const ///< Take has a packet
    {
        return m_next < m_packets || !m_lost.empty();
    }

    bool HasOut() const ///< Something was sent that is not known to have arrived
    {
        return m_highest > m_arrived.Base();
    }

    bool IsComplete() const
    {
        return m_arrived.Base() == m_packets;
    }

    /// @return the next packet to send: the first loss, else a new one; there is one
    Taken Take()
    {
        if (!m_lost.empty()) [[unlikely]]
        {
            return TakeLost();
        }
        const uint32_t packet = m_next++;
        const bool again = packet < m_highest;
        m_highest = std::max(m_highest, m_next);
        return {packet, again};
    }

    /// @return whether it is news that a packet has arrived
    bool Arrived(uint32_t packet);

    /// @return number of packets below `cumulative` whose arrival is news
    uint32_t ArrivedBelow(uint32_t cumulative)
    {
        if (cumulative <= m_arrived.Base())
        {
            return 0;
        }
        const bool isNext = cumulative == m_arrived.Base() + 1 && m_arrived.Held() == 0;
        if (!isNext || !m_lost.empty()) [[unlikely]]
        {
            return ArrivedFurther(cumulative);
        }
        m_arrived.Add(m_arrived.Base());
        m_next = std::max(m_next, m_arrived.Base());
        return 1;
    }

    /// @return whether it is news that a packet is lost: it has not arrived and is not yet listed
    bool Lost(uint32_t packet);

    /// Go back N: send again from a packet on. Nothing behind Base() may be known to have arrived.
    void Rewind(uint32_t packet);

    /**
     * Take packets for lost that others have overtaken; each is judged once.
     * @param reorderPackets by more than this [packet]
     * @param lost called with each packet
     */
    template <typename Visit>
    void JudgeOvertaken(uint32_t reorderPackets, Visit&& lost)
    {
        m_judged = std::max(m_judged, m_arrived.Base());
        for (; uint64_t{m_judged} + reorderPackets < m_arrived.End(); m_judged++)
        {
            if (Lost(m_judged))
            {
                lost(m_judged);
            }
        }
    }

    /**
     * Take everything for lost that is out.
     * @param lost called with each packet that was not taken for lost before
     */
    template <typename Visit>
    void LoseAll(Visit&& lost)
    {
        for (uint32_t packet = m_arrived.Base(); packet < m_next; packet++)
        {
            if (Lost(packet))
            {
                lost(packet);
            }
        }
        m_judged = m_next;
    }

  private:
    Taken TakeLost();
    uint32_t ArrivedFurther(uint32_t cumulative);

    PacketWindow m_arrived;
    uint32_t m_packets{0};
    uint32_t m_next{0};
    uint32_t m_highest{0};
    uint32_t m_judged{0}; ///< Packets below this were already looked at for loss
    std::set<uint32_t> m_lost;
};

} // namespace fabric
} // namespace ns3

#endif // HOST_SCOREBOARD_H

// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_LINK_CHANGES_H
#define FABRIC_LINK_CHANGES_H

#include "fabric-network.h"

#include "ns3/clocks.h"
#include "ns3/event-queue.h"

#include <unordered_map>
#include <vector>

namespace ns3
{
namespace fabric
{

/**
 * @brief Links that change at times of the table "link_events": when, and what that leaves behind.
 */
class LinkChanges
{
  public:
    explicit LinkChanges(FabricNetwork& network);

    /// Take the table and schedule its rows, and for each that routes follow `convergencePs` later.
    void Build(const std::vector<LinkEventRow>& rows,
               uint64_t convergencePs,
               const WorldClock& world,
               EventQueue& queue);

    /// @return rows, in the order of their times
    uint32_t Size() const
    {
        return static_cast<uint32_t>(m_ends.size());
    }

    WorldPs TimePs(uint32_t row) const
    {
        return m_timesPs[row];
    }

    /// @return one port of the link of a row
    PortId EndOf(uint32_t row) const
    {
        return m_ends[row];
    }

    /// @return new rate of a row for what EndOf sends, 0 = cut [bit/s]
    uint64_t RateBps(uint32_t row) const
    {
        return m_ratesBps[row];
    }

    /// @return new rate of a row for what comes to EndOf [bit/s]
    uint64_t BackBps(uint32_t row) const
    {
        return m_backBps[row];
    }

    /// @return time of the latest row that cuts, 0 if none does [ps]
    WorldPs LastCutPs() const
    {
        return m_lastCutPs;
    }

    bool Any() const
    {
        return !m_ends.empty();
    }

    void Flipped(uint32_t row); ///< A row has cut or restored its link
    void Notice(uint32_t row);  ///< Routes are to know of it, unless its link has flipped since
    void Cut(PortId port);      ///< The link of this egress is cut now
    /**
     * Whether the frame that comes now was under way when its link was cut; the link may be back.
     * @param port where it comes in
     * @param canLose whether frames into this port can be lost in other ways
     */
    bool LostByCut(PortId port, bool canLose);

  private:
    FabricNetwork& m_network;
    std::vector<WorldPs> m_timesPs;   ///< Of each row [ps]
    std::vector<PortId> m_ends;       ///< One port of the link of each row
    std::vector<uint64_t> m_ratesBps; ///< Of each row, from that port [bit/s]
    std::vector<uint64_t> m_backBps;  ///< Of each row, to that port [bit/s]
    WorldPs m_lastCutPs;
    std::unordered_map<PortId, uint32_t> m_lastFlip; ///< By such a port: last row to flip it
    /// By receiving port: frames ever sent to it when its link was last cut, until all are lost
    std::unordered_map<PortId, uint64_t> m_sentBeforeCut;
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_LINK_CHANGES_H

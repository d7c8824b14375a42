// SPDX-License-Identifier: GPL-2.0-only

#ifndef DCTCP_H
#define DCTCP_H

#include "ns3/congestion-control.h"
#include "ns3/slot-table.h"

namespace ns3
{

/**
 * @ingroup congestion
 * @brief DCTCP: a window that is cut in proportion to the share of marked bytes.
 *
 * **Source** RFC 8257 sections 3.3 to 3.5; a window grows only while it is in use (RFC 7661
 * section 4.1). Starts with one bandwidth-delay product, as RDMA transports do, not in slow start.
 * **Not modelled** Delayed acknowledgements (3.2): each packet has its own.
 */
class Dctcp final : public fabric::CongestionControl
{
  public:
    static TypeId GetTypeId();

    Traits GetTraits() const override
    {
        return {.needsMarks = true};
    }

    void Open(uint32_t slot, const Path& path) override;
    void OnAck(uint32_t slot, const Ack& ack) override;
    void OnLoss(uint32_t slot, Loss how) override;
    uint64_t WindowBytes(uint32_t slot) const override;

    double Alpha(uint32_t slot) const; ///< Smoothed share of marked bytes [1]

  private:
    /// One flow.
    struct Flow
    {
        double windowBytes{0};
        double mtuBytes{0};
        double alpha{1};          ///< Smoothed share of marked bytes [1]
        uint64_t arrivedBytes{0}; ///< In this window of observation [byte]
        uint64_t markedBytes{0};  ///< Of these [byte]
        uint32_t windowEnd{0};    ///< The answer to this packet ends it
        uint32_t cutEnd{0};       ///< Packets below this were sent before the last cut
        bool isUsed{false};       ///< In this window of observation all of the window was
    };

    fabric::SlotTable<Flow> m_flows;
    double m_gain{0};
    double m_initialBdp{0};
    uint32_t m_increaseBytes{0};
};

} // namespace ns3

#endif // DCTCP_H

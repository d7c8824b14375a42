// SPDX-License-Identifier: GPL-2.0-only

#ifndef VEGAS_CONTROL_H
#define VEGAS_CONTROL_H

#include "ns3/congestion-control.h"

#include <vector>

namespace ns3
{

/**
 * @ingroup vegas
 * @brief A window that keeps a few packets of a message waiting in the network.
 *
 * **Source** TCP Vegas (Brakmo and Peterson, IEEE JSAC 13, 1995), section 3.2, from round trips of
 * single packets; the unloaded round trip is known, not measured.
 * **Not modelled** Its slow start and its retransmissions.
 */
class VegasControl final : public fabric::CongestionControl
{
  public:
    static TypeId GetTypeId();

    void Open(uint32_t slot, const Path& path) override;
    void OnAck(uint32_t slot, const Ack& ack) override;
    void OnLoss(uint32_t slot, Loss how) override;
    uint64_t WindowBytes(uint32_t slot) const override;

  private:
    /// One message.
    struct Flow
    {
        uint32_t mtuBytes;
        uint64_t baseRttPs;
        uint64_t windowBytes;
        uint32_t roundEnd; ///< With the answer to this packet a round trip is over
    };

    uint32_t m_fewPackets{0};
    uint32_t m_manyPackets{0};
    std::vector<Flow> m_flows; ///< By slot
};

} // namespace ns3

#endif // VEGAS_CONTROL_H

// SPDX-License-Identifier: GPL-2.0-only

#ifndef WEIGHTED_ROUND_ROBIN_H
#define WEIGHTED_ROUND_ROBIN_H

#include "class-values.h"

#include "ns3/egress-scheduler.h"

#include <array>
#include <vector>

namespace ns3
{

/**
 * @ingroup queueing
 * @brief Classes take turns, the highest first; in its turn a class sends up to its weight in
 * frames.
 *
 * A turn ends when the weight is used up or the class has nothing to send.
 *
 * **Source**: Katevenis, Sidiropoulos and Courcoubetis, "Weighted round-robin cell multiplexing in
 * a general-purpose ATM switch chip", IEEE JSAC 9(8), 1991; NDP (Handley et al., SIGCOMM 2017,
 * section 3.1) has 10 headers to 1 data packet, here "7:10,3:1".
 *
 * **Not modelled**: interleaving of the turns; sizes of frames, see DeficitRoundRobin.
 */
class WeightedRoundRobin final : public fabric::EgressScheduler
{
  public:
    static TypeId GetTypeId();
    void Check() const override;
    void Attach(fabric::SwitchContext& context) override;
    Choice Next(fabric::PortId port, uint32_t ready) override;
    void Sent(fabric::PortId port, uint32_t queueClass, uint64_t wireBytes) override;

  private:
    /// Whose turn it is at a port.
    struct Turn
    {
        uint64_t queueClass : 8 {0};
        uint64_t left : 56 {0}; ///< Frames that it may send yet
    };

    ClassValues m_weights;
    std::array<uint64_t, fabric::MAX_CLASSES> m_weightOf{}; ///< Per class [frame]
    std::vector<Turn> m_turns;                              ///< Per port
};

} // namespace ns3

#endif // WEIGHTED_ROUND_ROBIN_H

// SPDX-License-Identifier: GPL-2.0-only

#ifndef CONGA_H
#define CONGA_H

#include "rate-estimator.h"

#include "ns3/flowlet-table.h"
#include "ns3/leaf-spine.h"
#include "ns3/nstime.h"
#include "ns3/switch-program.h"

#include <optional>
#include <span>
#include <vector>

/**
 * @defgroup conga CONGA
 * @brief Load balancing by the congestion of whole paths, which leaves tell each other.
 */

namespace ns3
{

/**
 * @ingroup conga
 * @brief A flow that was silent for Gap takes the uplink whose whole path is the least congested.
 *
 * Each link between switches has a discounting rate estimator; its congestion is the estimate over
 * the rate, in QuantumBits bits. A packet that leaves a leaf says by which uplink, collects the
 * largest congestion on its way, and carries one entry of what the leaf has learnt from the
 * destination's leaf: what was collected by packets that came from there. So a leaf knows the
 * congestion of each uplink towards each leaf, and a new flowlet takes the one with the smallest
 * maximum of its own and the remote value: at random among equals, but it stays if it can.
 *
 * **Source**: CONGA (Alizadeh et al., SIGCOMM 2014), sections 3.2 to 3.6.
 *
 * **Not modelled**: bytes of its header (it has room in VXLAN's); ageing of flowlets by a bit:
 * times are exact here. Deviation: an entry that is older than Aging counts as uncongested, without
 * a decay before.
 */
class Conga final : public fabric::SwitchProgram
{
  public:
    static TypeId GetTypeId();
    void Attach(fabric::ProgramContext& context) override;

    Traits GetTraits() const override
    {
        return {.hooks = ARRIVAL | DEPARTURE | ROUTE, .marksFrames = true};
    }

    Action OnArrival(uint32_t node, fabric::PortId ingress, fabric::FrameId frame) override;
    fabric::PortId Route(uint32_t node, const fabric::Frame& frame) override;
    void OnDeparture(fabric::PortId egress, fabric::FrameId frame, uint64_t queuedBytes) override;

  private:
    /// What one leaf knows of one uplink towards another leaf, or of one of the other's uplinks.
    struct Entry
    {
        uint64_t timePs{0};
        uint32_t congestion{0}; ///< In units of 2^-QuantumBits
        bool isNew{false};      ///< Not yet told to the other leaf
    };

    uint32_t CongestionOf(fabric::PortId port);
    std::optional<uint32_t> NextFeedback(uint32_t leaf, uint32_t otherLeaf);
    fabric::PortId Choose(uint32_t node,
                          std::span<const fabric::PortId> uplinks,
                          uint32_t dstLeaf,
                          fabric::PortId last);

    fabric::ProgramContext* m_context{nullptr};
    fabric::LeafSpine m_network;
    std::vector<Entry> m_toLeaf;       ///< Per leaf, other leaf and own uplink
    std::vector<Entry> m_fromLeaf;     ///< Per leaf, other leaf and uplink of the other
    std::vector<uint32_t> m_nextEntry; ///< Of m_fromLeaf to tell about, per pair of leaves
    fabric::FlowletTable m_flowlets;
    std::vector<RateEstimator> m_rates;        ///< Per port
    std::vector<fabric::RandomCursor> m_draws; ///< Per node
    RateEstimator::Clock m_clock{};
    double m_alpha{0};
    Time m_period;
    Time m_gap;
    Time m_aging;
    uint64_t m_gapPs{0};
    uint64_t m_agingPs{0};
    uint32_t m_entries{0};
    uint32_t m_quantumBits{0};
};

} // namespace ns3

#endif // CONGA_H

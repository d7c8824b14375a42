// SPDX-License-Identifier: GPL-2.0-only

#ifndef IN_NETWORK_REDUCTION_H
#define IN_NETWORK_REDUCTION_H

#include "reduction-groups.h"

#include "ns3/switch-program.h"

#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ns3
{

/**
 * @ingroup reduction
 * @brief A switch adds up the chunks of the ranks below it, and copies results to them.
 *
 * The tree of a group is where shortest paths of its ranks to rank 0 run; of equal ones all take
 * the same. A chunk goes on to the next switch when all ranks below have given theirs; the switch
 * next to rank 0 is the root and sends the sum back down. A chunk that is added up takes a slot. A
 * group gets as many slots as its hosts have a window, when its first chunk comes, or none: then
 * its chunks pass as they are, and whoever is further up adds them.
 *
 * A chunk that is sent again passes to rank 0, with what the switch has of it, and nothing of that
 * chunk is added here any more.
 *
 * **Source**: SHARP (Graham et al., COM-HPC 2016), trees and finite slots; what has no slot passes:
 * ATP (Lao et al., NSDI 2021).
 *
 * **Not modelled**: a manager that chooses trees by load, the time to add, streaming within a
 * message. When routes change, what is not added up yet is left to rank 0.
 */
class InNetworkReduction final : public fabric::SwitchProgram
{
  public:
    static TypeId GetTypeId();
    void Attach(fabric::ProgramContext& context) override;

    Traits GetTraits() const override
    {
        return {.hooks = ARRIVAL | ROUTE, .marksFrames = true};
    }

    Action OnArrival(uint32_t node, fabric::PortId ingress, fabric::FrameId frame) override;
    fabric::PortId Route(uint32_t node, const fabric::Frame& frame) override;
    void OnRoutesChanged() override;

  private:
    /// A switch in the tree of a group.
    struct Branch
    {
        RankSet below;
        fabric::PortId up{fabric::NO_PORT}; ///< To the next switch, at the root to rank 0
        bool isRoot{false};
        std::map<fabric::PortId, RankSet> children;
    };

    using Tree = std::map<uint32_t, Branch>; ///< By switch

    /// A chunk that is being added up: the frame that was first, and who is in the sum.
    struct Slot
    {
        fabric::FrameId frame;
        RankSet ranks;
    };

    /// What a switch has of a group.
    struct Share
    {
        uint32_t slots{0};          ///< 0: its chunks pass
        uint32_t left{0};           ///< Chunks that are not finished here
        std::vector<bool> finished; ///< Chunks that were added up, or left to rank 0
        std::unordered_map<uint32_t, Slot> sums;
    };

    const Tree& TreeOf(uint32_t group);
    fabric::PortId FirstPort(uint32_t group, uint32_t rank) const;
    Share& ShareOf(uint32_t node, uint32_t group, fabric::FrameId frame);
    Action Add(uint32_t node, uint32_t group, fabric::FrameId frame);
    Action Complete(uint32_t node, uint32_t group, const Slot& slot, fabric::FrameId last);
    void Pass(uint32_t node, uint32_t group, uint32_t chunk);
    void Settle(uint32_t node, uint32_t group, uint32_t chunk);
    void CopyDown(uint32_t node, uint32_t group, fabric::FrameId frame);

    fabric::ProgramContext* m_context{nullptr};
    std::optional<ReductionGroups> m_groups;
    std::vector<uint32_t> m_usedSlots;                       ///< Per node
    std::map<std::pair<uint32_t, uint32_t>, Share> m_shares; ///< By node and group
    std::unordered_map<uint32_t, Tree> m_trees;              ///< By group
    uint32_t m_transport{0};
    uint32_t m_slots{0};
};

} // namespace ns3

#endif // IN_NETWORK_REDUCTION_H

// SPDX-License-Identifier: GPL-2.0-only

#ifndef CON_WEAVE_H
#define CON_WEAVE_H

#include "ns3/leaf-spine.h"
#include "ns3/nstime.h"
#include "ns3/switch-program.h"

#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

/**
 * @defgroup conweave ConWeave
 * @brief Flows that leave a slow path at once; the last leaf puts their packets in order again.
 */

namespace ns3
{

/**
 * @ingroup conweave
 * @brief A leaf moves a message whose path answers late; the leaf of its destination hides that.
 *
 * The source leaf marks a packet as a request, and the destination leaf replies. A packet that
 * finds no reply after Cutoff is the last on its path: it goes as TAIL, and those behind it take
 * another path as REROUTED. The destination leaf holds what is REROUTED until TAIL has come, or for
 * Resume, and answers TAIL with CLEAR; until then the message is not moved again. A path that was
 * left is avoided for PathBusy by what goes to that leaf.
 *
 * **Source**: ConWeave (Song et al., SIGCOMM 2023), section 3.
 *
 * What is held is in the account of no link, so no flow control waits for it.
 *
 * **Not modelled**: notifications of congestion by ECN, limits of reordering queues and of tables,
 * estimates of when TAIL comes, bytes of its header. A CLEAR that is lost stops the rerouting of
 * its message.
 */
class ConWeave final : public fabric::SwitchProgram
{
  public:
    static TypeId GetTypeId();
    void Attach(fabric::ProgramContext& context) override;

    Traits GetTraits() const override
    {
        return {.hooks = ARRIVAL | ROUTE, .holdsApart = true, .marksFrames = true};
    }

    Action OnArrival(uint32_t node, fabric::PortId ingress, fabric::FrameId frame) override;
    fabric::PortId Route(uint32_t node, const fabric::Frame& frame) override;
    void OnTimer(uint32_t node) override;

  private:
    /// A message at the leaf of its source.
    struct Sender
    {
        fabric::PortId port{fabric::NO_PORT};
        uint16_t epoch{0};                 ///< Times it was moved
        std::optional<uint64_t> requestPs; ///< When the request that is not answered was sent [ps]
        bool awaitsClear{false};
    };

    /// A message at the leaf of its destination.
    struct Receiver
    {
        uint16_t tails{0};                 ///< Epochs whose TAIL has come, or was given up
        std::vector<fabric::FrameId> held; ///< REROUTED that came before TAIL, in order
        uint64_t heldSincePs{0};           ///< [ps]
        bool isReleased{false};            ///< What is held goes at this instant
    };

    void Depart(uint32_t node, fabric::FrameId id, std::span<const fabric::PortId> uplinks);
    std::optional<fabric::PortId> OtherPort(uint32_t node,
                                            std::span<const fabric::PortId> uplinks,
                                            uint32_t dstLeaf,
                                            fabric::PortId now);
    Action Receive(uint32_t node, fabric::FrameId id);
    void Tell(uint32_t node, fabric::FrameId about, uint32_t word);
    void Release(uint32_t node, uint32_t message);

    fabric::ProgramContext* m_context{nullptr};
    fabric::LeafSpine m_network;
    std::unordered_map<uint32_t, Sender> m_senders;     ///< By message
    std::unordered_map<uint32_t, Receiver> m_receivers; ///< By message
    std::vector<std::vector<uint32_t>> m_waiting;       ///< By leaf: messages with held ones
    std::vector<uint64_t> m_busyPs; ///< By place: an uplink is not taken again until then [ps]
    std::vector<fabric::RandomCursor> m_draws; ///< Per node
    const fabric::Frame* m_routed{nullptr};    ///< Frame that has just come
    fabric::PortId m_route{fabric::NO_PORT};   ///< Where it goes
    Time m_cutoff;
    Time m_resume;
    Time m_pathBusy;
    uint64_t m_cutoffPs{0};
    uint64_t m_resumePs{0};
    uint64_t m_pathBusyPs{0};
    uint32_t m_controlBytes{0};
    uint8_t m_controlPriority{0};
};

} // namespace ns3

#endif // CON_WEAVE_H

// SPDX-License-Identifier: GPL-2.0-only

#ifndef HOST_JITTER_H
#define HOST_JITTER_H

#include "ns3/nstime.h"
#include "ns3/random-cursor.h"
#include "ns3/switch-program.h"

#include <map>
#include <tuple>
#include <vector>

/**
 * @defgroup jitter Random times at hosts
 * @brief What hosts take for a packet, which no two packets have alike.
 */

namespace ns3
{

/**
 * @ingroup jitter
 * @brief Every frame of a host is later by a random time, uniform up to a limit.
 *
 * It stands for what a host takes to handle a packet: without it, senders that began together stay
 * on one grid of times, and at a full queue the same ones lose for ever. The time passes at the
 * switch to which the host has its link, so rates stay as they are; frames of a host keep their
 * order. Each host has its own draws.
 *
 * **Source** Floyd and Jacobson, "On Traffic Phase Effects in Packet-Switched Gateways",
 * Internetworking: Research and Experience 3(3), 1992, section 3; the `overhead_` of ns-2.
 *
 * **Not modelled** load of the host. A frame takes its buffer at the switch, and its place in the
 * account of its link, while it waits; with PFC an account is so much longer.
 */
class HostJitter final : public fabric::SwitchProgram
{
  public:
    static TypeId GetTypeId();
    void Attach(fabric::ProgramContext& context) override;
    Action OnArrival(uint32_t node, fabric::PortId ingress, fabric::FrameId frame) override;
    void OnTimer(uint32_t node) override;

    Traits GetTraits() const override
    {
        return {.hooks = ARRIVAL};
    }

  private:
    using Due = std::tuple<uint64_t, fabric::PortId, uint64_t>; ///< Time [ps], port, which frame

    fabric::ProgramContext* m_context{nullptr};
    Time m_most;
    uint32_t m_mostPs{0};                                  ///< Likewise [ps]
    std::vector<fabric::RandomCursor> m_draws;             ///< Per port
    std::vector<uint64_t> m_lastPs;                        ///< Per port, of its last frame [ps]
    std::vector<std::map<Due, fabric::FrameId>> m_waiting; ///< Per node
    std::vector<uint64_t> m_frames;                        ///< Per node, that have waited
};

} // namespace ns3

#endif // HOST_JITTER_H

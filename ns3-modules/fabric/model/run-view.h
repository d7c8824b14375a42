// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_RUN_VIEW_H
#define FABRIC_RUN_VIEW_H

#include "fabric-options.h"
#include "nic.h"
#include "switching.h"

namespace ns3
{
namespace fabric
{

/**
 * @ingroup fabric
 * @brief An engine as its observers, the results and the checks see it.
 */
class RunView final : public ObservedRun
{
  public:
    RunView(const FabricOptions& options,
            EngineState& state,
            const PluginClasses& classes,
            const Wires& wires,
            Nic& nic,
            const Switching& switching,
            const Observers& observers);

    // ---- for observers
    const EngineState& State() const override
    {
        return m_state;
    }

    const std::vector<Ptr<Object>>& Plugins() const override
    {
        return m_classes.owned;
    }

    WireProfile WireOf(uint32_t transport) const override
    {
        return m_nic.Traits()[transport].wire;
    }

    Transport& SourceOf(uint32_t message) const override
    {
        return m_nic.EndAt(m_state.messages[message].srcEndpoint);
    }

    EnginePs LimitPs() const override
    {
        return m_state.limitPs;
    }

    bool LosesFrames() const override
    {
        return m_wires.Losses().Any();
    }

    Datagram DescribeFrame(const Frame& frame) const override;
    WireBytes MacControlOf(PortId from, const Frame& frame) const override;

    uint32_t Wishes() const override
    {
        return m_observers.Wishes();
    }

    void Show(const SkippedTime& piece) override
    {
        m_observers.OnSkip(piece);
    }

    void Skip(uint64_t byPs, const std::vector<SkippedTime::Sent>& sent) override;

    // ---- for results and checks
    WorldPs NowPs() const
    {
        return m_state.WorldNowPs();
    }

    const FabricOptions& Options() const
    {
        return m_options;
    }

    const FabricNetwork& Network() const
    {
        return m_state.network;
    }

    const MessageTable& Messages() const
    {
        return m_state.messages;
    }

    const RouteTable& Routes() const
    {
        return m_state.routes;
    }

    const LinkChanges& Changes() const
    {
        return m_wires.Changes();
    }

    const LinkFlowControl* ControlOf(PortId port) const ///< Of its link, null if there is none
    {
        return m_classes.links[m_state.network.ports[port].linkClass].control;
    }

    uint64_t DataPackets() const ///< That have come to hosts here
    {
        return m_nic.GetArrived().dataPackets;
    }

    uint64_t DeliveredHere() const ///< Messages that have come to hosts here
    {
        return m_nic.GetArrived().messages;
    }

    /// @return the end of a transport at a host, by node id; null if it has none there
    Transport* TransportAt(int64_t host, uint32_t transport) const
    {
        return m_nic.TransportAt(host, transport);
    }

    uint64_t RuleChanges() const; ///< Of all switch programs
    /// @return egress ports of the links that a single-path message crosses; empty if sprayed
    std::vector<PortId> PathOf(uint32_t message) const;
    uint64_t MemoryBytes() const; ///< Of the engine's arrays [byte]

  private:
    const FabricOptions& m_options;
    EngineState& m_state;
    const PluginClasses& m_classes;
    const Wires& m_wires;
    Nic& m_nic;
    const Switching& m_switching;
    const Observers& m_observers;
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_RUN_VIEW_H

// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_LINKS_H
#define FABRIC_LINKS_H

#include "nic.h"
#include "switching.h"

namespace ns3
{
namespace fabric
{

/**
 * @ingroup fabric
 * @brief Links that are held back, cut, come back, or change their rate, and their flow control.
 */
class Links final : public LinkActions
{
  public:
    /// The parts of an engine on which links act.
    struct Parts
    {
        Observers& observers;
        Wires& wires;
        Nic& nic;
        Switching& switching;
    };

    Links(EngineState& state, const PluginClasses& classes, const Parts& parts);

    /**
     * A link changes, or routes take notice of that.
     * @param index CONTROL_LINK, or that of the notice
     * @param row of link_events
     * @param isLast whether no other of this kind follows in this instant
     */
    void Execute(uint32_t index, uint32_t row, bool isLast);
    void Receive(PortId portId, FrameId frameId); ///< A frame of link control

    void SetPaused(PortId portId, uint16_t classes, const LinkMessage& reason) override;
    void SendLinkControl(PortId port, uint32_t word, uint32_t bytes, PortId cause) override;

  private:
    void ChangeLink(uint32_t row);
    void ShowPause(PortId portId, uint16_t classes, const PauseReason& why);
    void CutPort(PortId portId);
    void EmptyPort(PortId portId);
    void RestorePort(PortId portId);
    void Reroute();
    void Enqueue(PortId portId, FrameId frameId);
    void Select(PortId portId, Port& port);

    EngineState& m_state;
    Port* m_ports; ///< Of the network
    const PluginClasses& m_classes;
    Observers& m_observers;
    Wires& m_wires;
    Nic& m_nic;
    Switching& m_switching;
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_LINKS_H

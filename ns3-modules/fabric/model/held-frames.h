// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_HELD_FRAMES_H
#define FABRIC_HELD_FRAMES_H

#include "switching.h"

#include <unordered_map>

namespace ns3
{
namespace fabric
{

/**
 * @ingroup fabric
 * @brief The frames that switch programs hold: taken of those that came in, or made.
 */
class HeldFrames final : public ProgramActions
{
  public:
    HeldFrames(EngineState& state, const PluginClasses& classes, Switching& switching);

    /// Show a frame that has come in to the programs of a switch.
    /// @return whether one of them has it
    bool Takes(PortId portId, FrameId frameId);

    FrameId CopyAt(uint32_t node, FrameId frameId) override;
    FrameId AnswerAt(uint32_t node, FrameId frameId, uint8_t priority, uint16_t bytes) override;
    void Inject(uint32_t node, FrameId frameId) override;
    void DiscardAt(uint32_t node, FrameId frameId) override;

  private:
    void Hold(uint32_t nodeId, FrameId frameId);
    void LetGo(uint32_t nodeId, FrameId frameId);
    void Account(PortId ingress, FrameId frameId, bool isApart);
    void Release(PortId ingress, uint8_t priority, uint32_t bytes);

    EngineState& m_state;
    const Port* m_ports; ///< Of the network
    const PluginClasses& m_classes;
    Switching& m_switching;
    /// Frames that were taken of links that account, and whether these had room
    std::unordered_map<FrameId, bool> m_taken;
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_HELD_FRAMES_H

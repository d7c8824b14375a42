// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_PROGRAM_CONTEXT_H
#define FABRIC_PROGRAM_CONTEXT_H

#include "switch-context.h"

namespace ns3
{
namespace fabric
{

/// What carries out the orders of switch programs.
class ProgramActions
{
  public:
    virtual FrameId CopyAt(uint32_t node, FrameId frame) = 0;
    virtual FrameId AnswerAt(uint32_t node, FrameId frame, uint8_t priority, uint16_t bytes) = 0;
    virtual void Inject(uint32_t node, FrameId frame) = 0;
    virtual void DiscardAt(uint32_t node, FrameId frame) = 0;

  protected:
    ~ProgramActions() = default;
};

/**
 * @ingroup fabric
 * @brief What a switch program may do, beside looking: hold frames back, make and send them.
 */
class ProgramContext : public SwitchContext
{
  public:
    /**
     * @param state of the engine
     * @param actions carry out what is asked for
     * @param firstTimer index of the timer of node 0
     */
    ProgramContext(EngineState& state, ProgramActions& actions, uint32_t firstTimer);

    Frame& GetFrame(FrameId frame);
    FrameNote& Note(FrameId frame);                ///< Empty when it is first asked for
    void AddHop(FrameId frame, const IntHop& hop); ///< Append to its in-band telemetry

    /// @return a copy of a frame, which the program holds at this switch; no link accounts for it
    FrameId Copy(uint32_t node, FrameId frame);
    /// @return a frame of control made here, to where another came from; held likewise [byte]
    FrameId Answer(uint32_t node, FrameId frame, uint8_t priority, uint16_t bytes);
    /// Route a frame that the program holds at this switch, by its `dst`.
    void Inject(uint32_t node, FrameId frame);
    /// Drop a frame that the program holds; it is counted nowhere.
    void Discard(uint32_t node, FrameId frame);

    /// Call OnTimer(node) at that time [ps]. There is no cancel.
    void SetTimer(uint32_t node, uint64_t atPs);

  private:
    EngineState& m_state;
    ProgramActions& m_actions;
    uint32_t m_firstTimer;
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_PROGRAM_CONTEXT_H

// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_SWITCH_PROGRAM_H
#define FABRIC_SWITCH_PROGRAM_H

#include "plugin.h"
#include "program-context.h"

namespace ns3
{
namespace fabric
{

/**
 * @ingroup fabric
 * @brief Contract: what a switch does with frames beside queueing them.
 *
 * In-band telemetry, congestion-aware load balancing, reordering, in-network reduction. One object
 * serves all switches of a class; state per switch or port lies in arrays of its own. Several
 * programs are called in the order in which the scenario lists them; who takes a frame ends that.
 */
class SwitchProgram : public Plugin
{
  public:
    /// Which calls it wants: a hook that nobody wants costs one branch.
    enum Hook : uint32_t
    {
        ARRIVAL = 1,
        DEPARTURE = 2,
        ROUTE = 4,
    };

    enum class Action
    {
        FORWARD,
        TAKE, ///< The program owns the frame until it injects or discards it; its buffer and its
              ///< place in the account of its link stay in use, so its priority must not change.
              ///< With holdsApart it leaves that account, until it has left the switch
        DROP, ///< It was for this switch alone and is counted as discarded here
    };

    /// What does not change once the attributes are set.
    struct Traits
    {
        uint32_t hooks{0};            ///< Calls that it wants, Hook by Hook
        bool writesIntHops{false};    ///< Every frame of data that leaves takes an IntHop with it
        bool knowsAllSwitches{false}; ///< It decides at one switch by what it has seen at others:
                                      ///< its run has one domain
        bool holdsApart{false}; ///< What it takes waits in buffers of its own, for which no link is
                                ///< held back
        bool maySkip{false};    ///< It has no clock that is slower than a few round trips: a steady
                                ///< state may be skipped
        bool marksFrames{false}; ///< It keeps a word in a frame, FrameNote::switchWord: programs of
                                 ///< one type alone do that in a run
    };

    static TypeId GetTypeId();

    virtual Traits GetTraits() const
    {
        return {};
    }

    virtual void Attach(ProgramContext& context) = 0; ///< Called once, when ports and routes exist
    /// A frame has come in and was not yet routed; may change it, but not its size.
    virtual Action OnArrival(uint32_t node, PortId ingress, FrameId frame);

    /**
     * A frame is to be routed. The first program that has an answer decides.
     * @return egress; NO_PORT: the next program chooses, and at last the forwarding policy
     */
    virtual PortId Route(uint32_t node, const Frame& frame);
    virtual void OnRoutesChanged(); ///< Groups have been numbered anew. Only with ROUTE.

    /**
     * A frame begins to leave by an egress; may change it, and make it longer.
     * @param egress port of a switch
     * @param frame the frame
     * @param queuedBytes bytes that stay behind in its class [byte]
     */
    virtual void OnDeparture(PortId egress, FrameId frame, uint64_t queuedBytes);

    /// A timer set with ProgramContext::SetTimer has run out.
    virtual void OnTimer(uint32_t node);

    /// @return how often it has given a message another path, or a first one of its own
    uint64_t RuleChanges() const
    {
        return m_ruleChanges;
    }

  protected:
    uint64_t m_ruleChanges{0};
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_SWITCH_PROGRAM_H

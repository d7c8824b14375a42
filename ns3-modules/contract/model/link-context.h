// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_LINK_CONTEXT_H
#define FABRIC_LINK_CONTEXT_H

#include "switch-context.h"

namespace ns3
{
namespace fabric
{

/// A frame of link control as its receiver reads it.
struct LinkMessage
{
    uint32_t word{0};      ///< What it says
    uint64_t sentPs{0};    ///< When it was decided on, if the run records pauses [ps]
    PortId cause{NO_PORT}; ///< Egress, there, of the frame that gave rise to it, likewise
};

/// What carries out the orders of link flow control.
class LinkActions
{
  public:
    virtual void SetPaused(PortId port, uint16_t classes, const LinkMessage& reason) = 0;
    virtual void SendLinkControl(PortId port, uint32_t word, uint32_t bytes, PortId cause) = 0;

  protected:
    ~LinkActions() = default;
};

/**
 * @ingroup fabric
 * @brief What link flow control may do, beside looking: hold back an egress, talk to its peer.
 */
class LinkContext : public SwitchContext
{
  public:
    /**
     * @param state of the engine
     * @param actions carry out what is asked for
     * @param firstTimer index of the timer of port 0
     * @param linkClass class of the links that it serves
     */
    LinkContext(EngineState& state, LinkActions& actions, uint32_t firstTimer, uint8_t linkClass);

    /// Hold back these classes of an egress, and no others, because of what the other end said.
    void SetPaused(PortId port, uint16_t classes, const LinkMessage& reason = {});

    /**
     * Send a frame of link control to the other end of a link, ahead of all other frames.
     * @param port this end
     * @param word what it says
     * @param bytes its size, at least MIN_FRAME_BYTES on Ethernet [byte]
     * @param cause egress, here, of the frame that gave rise to it; NO_PORT if none did
     */
    void Send(PortId port, uint32_t word, uint32_t bytes, PortId cause = NO_PORT);

    /// Call OnTimer(port) at that time [ps]. There is no cancel.
    void SetTimer(PortId port, uint64_t atPs);

    /// @return whether the link of this port is of the class that this flow control serves
    bool Serves(PortId port) const;

  private:
    EngineState& m_state;
    LinkActions& m_actions;
    uint32_t m_firstTimer;
    uint8_t m_linkClass;
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_LINK_CONTEXT_H

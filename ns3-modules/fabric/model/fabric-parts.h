// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_PARTS_H
#define FABRIC_PARTS_H

#include "run-view.h"

#include <vector>

namespace ns3
{
namespace fabric
{

/**
 * @ingroup fabric
 * @brief The engines of a run as one network, for results and checks: who knows what of whom.
 */
class FabricParts
{
  public:
    /// @param parts by engine; they live longer than this
    explicit FabricParts(std::vector<const RunView*> parts)
        : m_parts(std::move(parts))
    {
    }

    const std::vector<const RunView*>& All() const
    {
        return m_parts;
    }

    /// @return any of them, for what all know: tables, options, ids
    const RunView& First() const
    {
        return *m_parts[0];
    }

    const RunView& OfNode(uint32_t node) const
    {
        return *m_parts[First().Network().nodes[node].engine];
    }

    uint32_t EngineOf(PortId port) const
    {
        return First().Network().nodes[First().Network().ports[port].node].engine;
    }

    const RunView& OfPort(PortId port) const
    {
        return *m_parts[EngineOf(port)];
    }

    const RunView& OfHost(uint32_t host) const
    {
        return OfNode(First().Network().hosts[host].node);
    }

    const NodeState& GetNode(uint32_t node) const
    {
        return OfNode(node).Network().nodes[node];
    }

    const Port& GetPort(PortId port) const
    {
        return OfPort(port).Network().ports[port];
    }

    const PortCounters& GetCounters(PortId port) const
    {
        return OfPort(port).Network().counters[port];
    }

    const PortQueue& QueueOf(PortId port, uint32_t queueClass) const
    {
        return OfPort(port).State().QueueOf(port, queueClass);
    }

    /// @return a frame that waits at a port
    const Frame& GetFrame(PortId port, FrameId frame) const
    {
        return OfPort(port).State().frames[frame];
    }

    const LinkFlowControl* ControlOf(PortId port) const
    {
        return OfPort(port).ControlOf(port);
    }

    PortId NumPorts() const
    {
        return First().Network().NumPorts();
    }

    Message GetMessage(uint32_t message) const; ///< What both ends know of it
    bool WaitsForOthers(uint32_t message) const;

    /// @return sum of a number over all engines
    template <typename Number>
    uint64_t Sum(Number&& number) const
    {
        uint64_t sum = 0;
        for (const RunView* part : m_parts)
        {
            sum += number(*part);
        }
        return sum;
    }

  private:
    std::vector<const RunView*> m_parts;
};

/// Abort naming the first identity that does not hold.
void CheckIdentities(const FabricParts& parts);

} // namespace fabric
} // namespace ns3

#endif // FABRIC_PARTS_H

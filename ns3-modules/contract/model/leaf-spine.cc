// SPDX-License-Identifier: GPL-2.0-only

#include "leaf-spine.h"

#include "ns3/abort.h"

#include <algorithm>

namespace ns3
{
namespace fabric
{

LeafSpine::LeafSpine(const SwitchContext& context, const std::string& who)
    : m_context(&context),
      m_leafOfHost(context.NumHosts(), NO_PORT),
      m_isLeaf(context.NumNodes()),
      m_uplink(context.NumPorts(), NO_PORT)
{
    for (PortId id = 0; id < context.NumPorts(); id++)
    {
        const Port& port = context.GetPort(id);
        const uint32_t leaf = context.GetPort(port.peer).node;
        if (!port.isHost)
        {
            continue;
        }
        NS_ABORT_MSG_IF(m_leafOfHost[port.host] != NO_PORT && m_leafOfHost[port.host] != leaf,
                        who << " is for leaf-spines whose hosts are below one leaf; host "
                            << context.GetNode(port.node).id << " is below two. Use a leaf_spine "
                            << "with one plane, or leave " << who << " out");
        m_leafOfHost[port.host] = leaf;
        m_isLeaf[leaf] = true;
    }
    for (uint32_t node = 0; node < context.NumNodes(); node++)
    {
        const NodeState& state = context.GetNode(node);
        const PortId end = state.firstPort + (state.isSwitch ? state.ports : 0);
        uint32_t uplinks = 0;
        for (PortId id = state.firstPort; id < end; id++)
        {
            const Port& peer = context.GetPort(context.GetPort(id).peer);
            if (peer.isHost)
            {
                continue;
            }
            NS_ABORT_MSG_IF(m_isLeaf[node] == m_isLeaf[peer.node],
                            who << " is for leaf-spines; switches " << state.id << " and "
                                << context.GetNode(peer.node).id << " are joined and "
                                << (m_isLeaf[node] ? "both" : "neither")
                                << " have hosts. Use a leaf_spine, or leave " << who << " out");
            if (m_isLeaf[node])
            {
                m_uplink[id] = uplinks++;
            }
        }
        m_mostUplinks = std::max(m_mostUplinks, uplinks);
        m_leafIndex.push_back(m_leaves);
        m_leaves += m_isLeaf[node];
    }
}

std::span<const PortId>
LeafSpine::UplinksTo(uint32_t node, uint32_t dst) const
{
    if (!m_isLeaf[node] || m_leafOfHost[dst] == node)
    {
        return {};
    }
    const uint32_t nextHop = m_context->Routes().NextHopTo(node, dst);
    return (nextHop & Routing::DIRECT) ? std::span<const PortId>{}
                                       : m_context->Routes().Ports(nextHop);
}

} // namespace fabric
} // namespace ns3

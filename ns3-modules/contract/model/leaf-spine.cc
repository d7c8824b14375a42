// SPDX-License-Identifier: GPL-2.0-only

#include "leaf-spine.h"

#include "ns3/abort.h"

#include <algorithm>

namespace ns3
{
namespace fabric
{

LeafSpine::LeafSpine(const SwitchView& view, const std::string& who)
    : m_view(&view),
      m_leafOfHost(view.NumHosts(), NO_PORT),
      m_isLeaf(view.NumNodes()),
      m_uplink(view.NumPorts(), NO_PORT)
{
    for (PortId id = 0; id < view.NumPorts(); id++)
    {
        const Port& port = view.GetPort(id);
        const uint32_t leaf = view.GetPort(port.peer).node;
        if (!port.isHost)
        {
            continue;
        }
        NS_ABORT_MSG_IF(m_leafOfHost[port.host] != NO_PORT && m_leafOfHost[port.host] != leaf,
                        who << " is for leaf-spines whose hosts are below one leaf; host "
                            << view.GetNode(port.node).id << " is below two. Use a leaf_spine "
                            << "with one plane, or leave " << who << " out");
        m_leafOfHost[port.host] = leaf;
        m_isLeaf[leaf] = true;
    }
    for (uint32_t node = 0; node < view.NumNodes(); node++)
    {
        const NodeState& state = view.GetNode(node);
        const PortId end = state.firstPort + (state.isSwitch ? state.ports : 0);
        uint32_t uplinks = 0;
        for (PortId id = state.firstPort; id < end; id++)
        {
            const Port& peer = view.GetPort(view.GetPort(id).peer);
            if (peer.isHost)
            {
                continue;
            }
            NS_ABORT_MSG_IF(m_isLeaf[node] == m_isLeaf[peer.node],
                            who << " is for leaf-spines; switches " << state.id << " and "
                                << view.GetNode(peer.node).id << " are joined and "
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
    const uint32_t nextHop = m_view->Routes().NextHopTo(node, dst);
    return (nextHop & Routing::DIRECT) ? std::span<const PortId>{}
                                       : m_view->Routes().Ports(nextHop);
}

} // namespace fabric
} // namespace ns3

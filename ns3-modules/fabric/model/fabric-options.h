// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_OPTIONS_H
#define FABRIC_OPTIONS_H

#include "ns3/engine-state.h"
#include "ns3/host-model.h"
#include "ns3/object-factory.h"
#include "ns3/wire-model.h"

#include <vector>

namespace ns3
{
namespace fabric
{

/// What the switches of one class are like. A factory without TypeId: none.
struct NodeClassOptions : SwitchModel
{
    ObjectFactory forwarding;
    ObjectFactory queue;
    ObjectFactory scheduler; ///< None: strict priority
    std::vector<ObjectFactory> programs;
};

/// What the links of one class are like. A factory without TypeId: none.
struct LinkClassOptions
{
    ObjectFactory flowControl;
    ObjectFactory loss;
};

/// What the user chose for a run, beside the tables.
struct FabricOptions : WireModel, RouteModel
{
    uint64_t seed{1};                             ///< Root of every random stream
    std::vector<NodeClassOptions> nodeClasses{1}; ///< In the order of nodes.class
    std::vector<LinkClassOptions> linkClasses{1}; ///< In the order of links.class
    std::vector<ObjectFactory> transports;        ///< In the order of flows.transport
    std::vector<HostModel> hosts;                 ///< Likewise; those that are missing are free
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_OPTIONS_H

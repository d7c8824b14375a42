// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_CLASSES_H
#define FABRIC_CLASSES_H

#include "ns3/egress-scheduler.h"
#include "ns3/fabric-state.h"
#include "ns3/forwarding-policy.h"
#include "ns3/link-flow-control.h"
#include "ns3/queue-discipline.h"
#include "ns3/switch-program.h"
#include "ns3/transport.h"

#include <array>
#include <vector>

// What an engine keeps of the plug-ins of switches, links and hosts.

namespace ns3
{
namespace fabric
{

/// The switches of one class.
struct NodeClass
{
    uint64_t bufferBytes{0}; ///< 0 = unlimited [byte]
    uint64_t latencyPs{0};
    uint64_t cutThroughBytes{0};
    ForwardingPolicy* forwarding{nullptr};
    QueueDiscipline* discipline{nullptr};
    EgressScheduler* scheduler{nullptr};
    bool routesEarly{true}; ///< A next hop may be chosen a few events before it is needed
    bool hasOwnRoutes{false};
    /// Least bytes in a class of an egress with which its discipline must be called [byte]
    std::array<uint64_t, MAX_CLASSES> callAdmitAt;
    std::array<uint64_t, MAX_CLASSES> callDepartAt;
    std::vector<SwitchProgram*> onArrival;
    std::vector<SwitchProgram*> onDeparture;
    bool writesIntHops{false}; ///< One of them writes in-band telemetry
    std::vector<SwitchProgram*> onRoute;
};

/// The links of one class.
struct LinkClass
{
    LinkFlowControl* control{nullptr};
    uint32_t losslessMask{0};
    uint32_t countedMask{0};
    bool watchesSenders{false};
    LinkFlowControl::PortMemory memory; ///< Of its control
};

/// One transport object at one host.
struct Endpoint
{
    Transport* transport;
    uint8_t priority; ///< Of its data
    uint32_t turn{0}; ///< At the first of those that are equally urgent: who is asked first
};

/// What a timer belongs to, by ranges of its index: endpoints first.
struct TimerOwner
{
    uint32_t first;
    uint32_t n;
    SwitchProgram* program;   ///< Null: a link flow control, or ports that ask again
    LinkFlowControl* control; ///< Null: ports that ask again
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_CLASSES_H

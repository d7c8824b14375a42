// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_PLUGIN_CLASSES_H
#define FABRIC_PLUGIN_CLASSES_H

#include "ns3/egress-scheduler.h"
#include "ns3/engine-state.h"
#include "ns3/forwarding-policy.h"
#include "ns3/link-context.h"
#include "ns3/link-flow-control.h"
#include "ns3/program-context.h"
#include "ns3/queue-discipline.h"
#include "ns3/switch-program.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <vector>

namespace ns3
{
namespace fabric
{

/// The switches of one class.
struct NodeClass
{
    uint64_t bufferBytes{0}; ///< 0 = unlimited [byte]
    ForwardingPolicy* forwarding{nullptr};
    QueueDiscipline* discipline{nullptr};
    EgressScheduler* scheduler{nullptr};
    bool routesEarly{true};   ///< A next hop may be chosen before it is needed, in order of arrival
    bool routesAnyTime{true}; ///< And in any order
    bool hasOwnRoutes{false};
    bool keepsFlowOnOnePath{false};
    /// Least bytes in a class of an egress with which its discipline must be called [byte]
    std::array<uint64_t, MAX_CLASSES> callAdmitAt;
    std::array<uint64_t, MAX_CLASSES> callDepartAt;
    std::array<QueueDiscipline::Traits, MAX_CLASSES> queueTraits; ///< Of its discipline
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

/// What a timer belongs to, by ranges of its index.
struct TimerOwner
{
    uint32_t first;
    uint32_t n;
    SwitchProgram* program;   ///< Null: a link flow control, or ports that ask again
    LinkFlowControl* control; ///< Null: ports that ask again
};

/**
 * @ingroup fabric
 * @brief The plug-ins of switches and links, by class, and what they see of the engine.
 */
struct PluginClasses
{
    explicit PluginClasses(const EngineState& state)
        : context(state)
    {
    }

    ~PluginClasses()
    {
        for (auto& plugin : owned)
        {
            plugin->Dispose();
        }
    }

    PluginClasses(const PluginClasses&) = delete;
    PluginClasses& operator=(const PluginClasses&) = delete;

    /// @return the class of the link of a port
    const LinkClass& LinkOf(const Port& port) const
    {
        return links[linksDiffer ? port.linkClass : 0];
    }

    const TimerOwner& OwnerOf(uint32_t timer) const
    {
        const auto isLater = [timer](const TimerOwner& owner) { return owner.first > timer; };
        return *std::prev(std::find_if(timers.begin(), timers.end(), isLater));
    }

    std::vector<NodeClass> nodes;
    std::vector<LinkClass> links;
    bool linksDiffer{false};        ///< There are several classes of links
    std::vector<TimerOwner> timers; ///< By first index
    std::vector<Ptr<Object>> owned; ///< What the classes point to, and the transports of hosts
    SwitchContext context;          ///< For the plug-ins that only look
    std::vector<std::unique_ptr<LinkContext>> linkContexts;
    std::vector<SwitchProgram*> programs; ///< Of all classes
    std::vector<std::unique_ptr<ProgramContext>> programContexts;
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_PLUGIN_CLASSES_H

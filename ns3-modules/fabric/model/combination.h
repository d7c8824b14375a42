// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_COMBINATION_H
#define FABRIC_COMBINATION_H

#include "fabric-options.h"

#include "ns3/egress-scheduler.h"
#include "ns3/link-flow-control.h"
#include "ns3/queue-discipline.h"
#include "ns3/switch-program.h"
#include "ns3/transport.h"

#include <string>
#include <vector>

namespace ns3
{
namespace fabric
{

/// A transport of a run.
struct Sender
{
    std::string type;
    Transport::Traits traits;
};

/// Plug-ins of the switches of one class and of links of one class at them; null: none.
struct Combination
{
    const QueueDiscipline* queue{nullptr};
    const EgressScheduler* scheduler{nullptr};
    const LinkFlowControl* control{nullptr};
};

/**
 * Abort if plug-ins that are right one by one are wrong together, with a message that begins with
 * the type of one of them. Asked of every run when it is built, and of the plug-ins alone before.
 */
void CheckCombination(const Combination& chosen, const std::vector<Sender>& senders);

/// Likewise of the programs of all switches.
void CheckPrograms(const std::vector<const SwitchProgram*>& programs);

/// The same of plug-ins that are made for the question alone.
void CheckCombination(const NodeClassOptions& nodes,
                      const LinkClassOptions& links,
                      const std::vector<ObjectFactory>& transports);

} // namespace fabric
} // namespace ns3

#endif // FABRIC_COMBINATION_H

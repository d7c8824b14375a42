// SPDX-License-Identifier: GPL-2.0-only

#include "combination.h"

#include "ns3/abort.h"

#include <bit>

namespace ns3
{
namespace fabric
{

namespace
{

std::string
TypeOf(const Plugin& plugin)
{
    return plugin.GetInstanceTypeId().GetName();
}

template <typename T>
Ptr<T>
MakeIfChosen(const ObjectFactory& factory)
{
    return factory.IsTypeIdSet() ? MakePlugin<T>(factory) : nullptr;
}

/// @return bit per priority that the data of a transport may have
uint32_t
DataPriorities(const Transport::Traits& traits)
{
    return traits.morePriorities | 1U << traits.dataPriority;
}

/// Every priority that is used has a class of its number on the links.
void
CheckPriorities(const LinkFlowControl& control, const Sender& sender)
{
    const uint32_t classes = control.GetTraits().numClasses;
    const uint32_t used = DataPriorities(sender.traits) | 1U << sender.traits.controlPriority;
    const auto highest = static_cast<uint32_t>(std::bit_width(used)) - 1;
    NS_ABORT_MSG_IF(highest >= classes,
                    TypeOf(control)
                        << ": its links have " << classes << " classes, from 0, but " << sender.type
                        << " sends with priority " << highest << ". Give them " << highest + 1
                        << " classes or more, or write lower priorities");
}

/// A queue cuts the payload off data that may lose it, and headers have a priority of their own.
void
CheckTrimming(const QueueDiscipline& queue, uint32_t lossless, const Sender& sender)
{
    const uint32_t data = DataPriorities(sender.traits) & ~lossless; // of others nothing is trimmed
    const uint32_t frameBytes = sender.traits.wire.mtuBytes + sender.traits.wire.headerBytes;
    uint32_t trimmed = 0;
    uint32_t headers = 0;
    for (uint8_t priority = 0; priority < NUM_PRIORITIES; priority++)
    {
        const auto traits = queue.GetTraits(priority);
        if (traits.trims && frameBytes > traits.trimBytes)
        {
            trimmed |= 1U << priority;
            headers |= 1U << traits.trimPriority;
        }
    }
    NS_ABORT_MSG_IF((data & trimmed) && !sender.traits.isTrimmable,
                    TypeOf(queue) << " cuts payload away, but data of " << sender.type
                                  << " may not be trimmed, so its packets would be dropped. Write "
                                     "another queue, or Trimmable: true if the transport has it");
    NS_ABORT_MSG_IF(data & headers,
                    TypeOf(queue) << ": headers of trimmed packets have priority "
                                  << std::countr_zero(data & headers) << ", and so has data of "
                                  << sender.type
                                  << ". Headers need a priority of their own: write another one");
}

} // namespace

void
CheckCombination(const Combination& chosen, const std::vector<Sender>& senders)
{
    const auto links = chosen.control ? chosen.control->GetTraits() : LinkFlowControl::Traits{};
    for (const auto& sender : senders)
    {
        if (chosen.control)
        {
            CheckPriorities(*chosen.control, sender);
        }
        if (chosen.queue)
        {
            CheckTrimming(*chosen.queue, links.losslessClasses, sender);
        }
    }
    if (chosen.control && chosen.scheduler)
    {
        chosen.scheduler->CheckClasses(links.numClasses, TypeOf(*chosen.control));
    }
}

void
CheckPrograms(const std::vector<const SwitchProgram*>& programs)
{
    const SwitchProgram* first = nullptr;
    for (const SwitchProgram* program : programs)
    {
        if (!program->GetTraits().marksFrames)
        {
            continue;
        }
        first = first ? first : program;
        NS_ABORT_MSG_IF(TypeOf(*program) != TypeOf(*first),
                        TypeOf(*program) << " and " << TypeOf(*first)
                                         << " keep a word in each packet, and there is room for "
                                            "one. Leave one of them out");
    }
}

void
CheckCombination(const NodeClassOptions& nodes,
                 const LinkClassOptions& links,
                 const std::vector<ObjectFactory>& transports)
{
    const auto queue = MakeIfChosen<QueueDiscipline>(nodes.queue);
    const auto scheduler = MakeIfChosen<EgressScheduler>(nodes.scheduler);
    const auto control = MakeIfChosen<LinkFlowControl>(links.flowControl);
    std::vector<Sender> senders;
    for (const auto& factory : transports)
    {
        senders.push_back(
            {factory.GetTypeId().GetName(), MakePlugin<Transport>(factory)->GetTraits()});
    }
    CheckCombination({PeekPointer(queue), PeekPointer(scheduler), PeekPointer(control)}, senders);
    std::vector<Ptr<SwitchProgram>> made;
    std::vector<const SwitchProgram*> programs;
    for (const auto& factory : nodes.programs)
    {
        programs.push_back(PeekPointer(made.emplace_back(MakePlugin<SwitchProgram>(factory))));
    }
    CheckPrograms(programs);
}

} // namespace fabric
} // namespace ns3

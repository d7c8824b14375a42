// SPDX-License-Identifier: GPL-2.0-only

#include "ecmp-hash.h"

#include "ns3/boolean.h"
#include "ns3/enum.h"
#include "ns3/flow-hash.h"
#include "ns3/log.h"
#include "ns3/uinteger.h"

namespace ns3
{

using namespace fabric;

NS_LOG_COMPONENT_DEFINE("EcmpHash");
NS_OBJECT_ENSURE_REGISTERED(EcmpHash);

TypeId
EcmpHash::GetTypeId()
{
    static TypeId tid = TypeId("ns3::EcmpHash")
                            .SetParent<ForwardingPolicy>()
                            .SetGroupName("Forwarding")
                            .AddConstructor<EcmpHash>()
                            .AddAttribute("Fields",
                                          "What the hash is of: header fields and entropy of a "
                                          "message, source and destination host, or destination",
                                          EnumValue(Fields::MESSAGE),
                                          MakeEnumAccessor<Fields>(&EcmpHash::m_fields),
                                          MakeEnumChecker(Fields::MESSAGE,
                                                          "Message",
                                                          Fields::HOSTS,
                                                          "Hosts",
                                                          Fields::DESTINATION,
                                                          "Destination"))
                            .AddAttribute("OwnSeeds",
                                          "Each switch has a seed of its own; without, all have "
                                          "Seed, and tiers above each other choose alike",
                                          BooleanValue(true),
                                          MakeBooleanAccessor(&EcmpHash::m_ownSeeds),
                                          MakeBooleanChecker())
                            .AddAttribute("Seed",
                                          "Of all switches of this policy, beside their own [1]",
                                          UintegerValue(0),
                                          MakeUintegerAccessor(&EcmpHash::m_seed),
                                          MakeUintegerChecker<uint64_t>());
    return tid;
}

void
EcmpHash::Attach(SwitchContext& context)
{
    NS_LOG_FUNCTION(this);
    m_context = &context;
    m_isUsual = m_fields == Fields::MESSAGE && m_ownSeeds && m_seed == 0;
}

/// @return what a switch sees of a frame, as far as it hashes it
uint64_t
EcmpHash::HeaderOf(const Frame& frame) const
{
    if (m_fields == Fields::MESSAGE)
    {
        return (uint64_t{m_context->TupleOf(frame.message)} << 32) |
               (uint64_t{frame.entropy} << 8) | (frame.flags & frame_flag::REVERSE);
    }
    const uint64_t source = m_fields == Fields::HOSTS ? m_context->SourceOf(frame) + 1 : 0;
    return (source << 32) | frame.dst;
}

uint32_t
EcmpHash::Select(const ForwardingChoice& choice, const Frame& frame)
{
    uint64_t hash = 0;
    if (m_isUsual) [[likely]]
    {
        hash = FlowHash(*m_context, choice.node, frame);
    }
    else
    {
        const uint64_t own = m_ownSeeds ? m_context->GetNode(choice.node).salt : 0;
        hash = Mix64(Mix64(HeaderOf(frame)) ^ own ^ Mix64(m_seed));
    }
    return static_cast<uint32_t>(((hash >> 32) * choice.n) >> 32);
}

} // namespace ns3

// SPDX-License-Identifier: GPL-2.0-only

#include "token-bucket-shaper.h"

#include "ns3/abort.h"
#include "ns3/event.h"
#include "ns3/log.h"

#include <algorithm>
#include <bit>

namespace ns3
{

using namespace fabric;

NS_LOG_COMPONENT_DEFINE("TokenBucketShaper");
NS_OBJECT_ENSURE_REGISTERED(TokenBucketShaper);

TypeId
TokenBucketShaper::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::TokenBucketShaper")
            .SetParent<EgressScheduler>()
            .SetGroupName("Queueing")
            .AddConstructor<TokenBucketShaper>()
            .AddAttribute("RatesBps",
                          "Rate of a class on the wire, as class:rate,class:rate [bit/s]; a class "
                          "that is not named is not held back",
                          ClassValuesValue(),
                          MakeClassValuesAccessor(&TokenBucketShaper::m_rates),
                          MakeClassValuesChecker())
            .AddAttribute("BurstsBytes",
                          "Bucket of a class, as class:bytes,class:bytes [byte]; one that is not "
                          "named holds the largest frame of the scenario",
                          ClassValuesValue(),
                          MakeClassValuesAccessor(&TokenBucketShaper::m_bursts),
                          MakeClassValuesChecker());
    return tid;
}

void
TokenBucketShaper::Check() const
{
    const auto rates = m_rates.PerClass(0, 1, Name("RatesBps"));
    m_bursts.PerClass(1, 1, Name("BurstsBytes"));
    for (const auto& [queueClass, bytes] : m_bursts.Entries())
    {
        NS_ABORT_MSG_IF(rates[queueClass] == 0,
                        Name("BurstsBytes") << " names class " << queueClass
                                            << ", to which RatesBps gives no rate");
    }
}

void
TokenBucketShaper::Attach(SwitchContext& context)
{
    NS_LOG_FUNCTION(this);
    m_context = &context;
    m_rateBps = m_rates.PerClass(0, 1, Name("RatesBps"));
    m_burstBytes = m_bursts.PerClass(context.LargestFrameBytes() + context.FramingBytes(),
                                     1,
                                     Name("BurstsBytes"));
    m_fullPs.assign(context.NumPorts(), {});
}

/// @return time in which a bucket gains so many bytes [ps]
uint64_t
TokenBucketShaper::TokensPs(uint64_t bytes, uint32_t queueClass) const
{
    constexpr __uint128_t PS_PER_SECOND_AND_BYTE = 8'000'000'000'000;
    const uint64_t rateBps = m_rateBps[queueClass];
    return static_cast<uint64_t>((bytes * PS_PER_SECOND_AND_BYTE + rateBps - 1) / rateBps);
}

/// @return when the frame at the head of a class may go [ps]
uint64_t
TokenBucketShaper::NotBeforePs(PortId port, uint32_t queueClass) const
{
    if (m_rateBps[queueClass] == 0)
    {
        return 0;
    }
    const uint64_t frameBytes = m_context->HeadBytes(port, queueClass) + m_context->FramingBytes();
    const uint64_t burstBytes = m_burstBytes[queueClass];
    const uint64_t spareBytes = burstBytes - std::min(burstBytes, frameBytes);
    const uint64_t sparePs = TokensPs(spareBytes, queueClass);
    const uint64_t fullPs = m_fullPs[port][queueClass];
    return fullPs - std::min(fullPs, sparePs);
}

EgressScheduler::Choice
TokenBucketShaper::Next(PortId port, uint32_t ready)
{
    uint64_t earliestPs = NEVER_PS;
    for (uint32_t left = ready; left != 0;)
    {
        const uint32_t queueClass = static_cast<uint32_t>(std::bit_width(left)) - 1;
        const uint64_t notBeforePs = NotBeforePs(port, queueClass);
        if (notBeforePs <= m_context->NowPs())
        {
            return {queueClass};
        }
        earliestPs = std::min(earliestPs, notBeforePs);
        left &= ~(1U << queueClass);
    }
    return {NONE, earliestPs};
}

void
TokenBucketShaper::Sent(PortId port, uint32_t queueClass, uint64_t wireBytes)
{
    if (m_rateBps[queueClass] == 0)
    {
        return;
    }
    uint64_t& fullPs = m_fullPs[port][queueClass];
    fullPs = std::max(fullPs, m_context->NowPs()) + TokensPs(wireBytes, queueClass);
}

} // namespace ns3

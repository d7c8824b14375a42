// SPDX-License-Identifier: GPL-2.0-only

#include "idle-time.h"

#include <algorithm>

namespace ns3
{

uint64_t
WirePs(uint64_t bytes, uint64_t rateBps)
{
    constexpr uint64_t PS_PER_SECOND_AND_BYTE = 8'000'000'000'000;
    const auto product = static_cast<__uint128_t>(bytes) * PS_PER_SECOND_AND_BYTE;
    return static_cast<uint64_t>((product + rateBps - 1) / rateBps);
}

uint64_t
FramePs(uint64_t wireBytes, const std::vector<FluidHop>& path)
{
    uint64_t ps = 0;
    for (const FluidHop& hop : path)
    {
        ps += WirePs(wireBytes, hop.rateBps) + hop.delayPs + hop.processingDelayPs;
    }
    return ps;
}

uint64_t
UnloadedPs(const FluidFrames& frames, const std::vector<FluidHop>& path)
{
    const size_t links = path.size();
    if (frames.packets == 1)
    {
        return FramePs(frames.first, path);
    }
    uint64_t fixed = 0;
    std::vector<uint64_t> upTo(links + 1, 0);   // of the first packet, over links 0 .. i - 1
    std::vector<uint64_t> middle(links + 1, 0); // of a middle one
    std::vector<uint64_t> last(links + 1, 0);   // of the last one
    for (size_t i = 0; i < links; i++)
    {
        fixed += path[i].delayPs + path[i].processingDelayPs;
        upTo[i + 1] = upTo[i] + WirePs(frames.first, path[i].rateBps);
        middle[i + 1] = middle[i] + WirePs(frames.middle, path[i].rateBps);
        last[i + 1] = last[i] + WirePs(frames.last, path[i].rateBps);
    }
    uint64_t longest = 0;
    for (size_t i = 0; i < links; i++)
    {
        uint64_t slowest = 0;
        for (size_t j = i; j < links; j++)
        {
            uint64_t ps = upTo[i + 1] + last[links] - last[j];
            if (frames.packets == 2)
            {
                longest = std::max(longest, ps);
                break; // the last packet follows the first: the way turns once
            }
            slowest = std::max(slowest, middle[j + 1] - middle[j]);
            ps += middle[j + 1] - middle[i] + (frames.packets - 3) * slowest;
            longest = std::max(longest, ps);
        }
    }
    return fixed + longest;
}

namespace
{

/// Times that the frames of a message take at one hop [ps].
struct HopTimes
{
    uint64_t first;
    uint64_t full; ///< The last full one
    uint64_t last;
    uint64_t allFull; ///< All but the last
    uint64_t all;
    uint64_t beforeLast; ///< Until the last one may begin, at the host
};

HopTimes
TimesOf(const FluidFrames& frames, const FluidHopLinks& hop)
{
    const uint64_t n = frames.packets;
    const uint64_t first = WirePs(frames.first, hop.rateBps);
    if (n == 1)
    {
        return {first, first, first, first, first, 0};
    }
    const uint64_t middle = WirePs(frames.middle, hop.rateBps);
    const uint64_t last = WirePs(frames.last, hop.rateBps);
    HopTimes times{first, n == 2 ? first : middle, last, 0, 0, 0};
    if (hop.links == 1)
    {
        times.allFull = times.beforeLast = first + (n - 2) * middle;
        times.all = times.allFull + last;
    }
    else if (hop.areAlike) // the link with the most frames
    {
        const auto inTurn = [&hop](uint64_t packets) {
            return (packets + hop.links - 1) / hop.links;
        };
        times.allFull = inTurn(n - 1) * middle;
        times.beforeLast = (inTurn(n) - 1) * middle;
        times.all = times.beforeLast + (n % hop.links == 1 ? last : middle);
    }
    else
    {
        times.allFull = times.full;
        times.all = static_cast<uint64_t>(frames.WireBytes() / hop.bytesPerPs);
    }
    return times;
}

} // namespace

uint64_t
SpreadPs(const FluidFrames& frames, const std::vector<FluidHopLinks>& hops)
{
    uint64_t first = 0;
    uint64_t full = 0;
    uint64_t last = 0;
    uint64_t whole = 0;
    for (size_t i = 0; i < hops.size(); i++)
    {
        const HopTimes times = TimesOf(frames, hops[i]);
        const uint64_t begin = std::min(first, last);
        const uint64_t chained = i > 0 ? whole + times.last : 0;
        const bool isInOrder = hops[i].links == 1 && frames.packets > 1;
        const uint64_t pair = isInOrder ? std::min(full, last) + times.full + times.last : 0;
        full = std::max(full + times.full, first + times.allFull);
        last = (i > 0 ? last : times.beforeLast) + times.last;
        whole = std::max({chained, full, last, begin + times.all, pair});
        first += times.first;
    }
    return whole;
}

} // namespace ns3

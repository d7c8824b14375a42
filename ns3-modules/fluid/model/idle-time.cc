// SPDX-License-Identifier: GPL-2.0-only

#include "idle-time.h"

#include <algorithm>

namespace ns3
{

uint64_t
WirePs(uint64_t bytes, uint64_t rateBps)
{
    constexpr uint64_t PS_PER_SECOND_AND_BYTE = 8'000'000'000'000;
    const auto product = static_cast<unsigned __int128>(bytes) * PS_PER_SECOND_AND_BYTE;
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

} // namespace ns3

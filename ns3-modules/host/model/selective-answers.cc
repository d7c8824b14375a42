// SPDX-License-Identifier: GPL-2.0-only

#include "selective-answers.h"

namespace ns3
{
namespace fabric
{
namespace selective
{

namespace
{

constexpr uint32_t BITMAP_PACKETS = 64;
constexpr uint16_t AT_ONCE = frame_flag::ECN_MARKED | ASKS;

} // namespace

bool
IsDue(Unanswered& state, const Frame& data, const PacketWindow& received, uint32_t everyBytes)
{
    const uint32_t arrived = received.Count();
    const bool isFirst = state.arrivedPackets == 0;
    const bool isCopy = arrived == state.arrivedPackets;
    state.arrivedPackets = arrived;
    state.bytes += data.bytes;
    state.isAsked |= (data.flags & ASKS) != 0;
    const bool isWhole = state.isAsked && received.Held() == 0;
    state.isAsked &= !isWhole;
    const bool isDue = isFirst || isCopy || isWhole || (data.flags & AT_ONCE) != 0 ||
                       state.bytes >= everyBytes;
    state.bytes = isDue ? 0 : state.bytes;
    return isDue;
}

void
Write(FrameNote& note, const Frame& data, const PacketWindow& received)
{
    const bool fromHere = (data.flags & AT_ONCE) != 0;
    const uint32_t before = data.packet - std::min(data.packet, BITMAP_PACKETS - 1);
    const uint32_t from = fromHere ? data.packet : std::max(before, received.Base() + 1);
    uint64_t bits = 0;
    for (uint32_t i = 0; i < BITMAP_PACKETS && from + i < received.End(); i++)
    {
        bits |= uint64_t{received.Contains(from + i)} << i;
    }
    note.words[BITMAP] = bits;
    note.words[FROM] = from;
    note.words[COUNT] = received.Count();
}

} // namespace selective
} // namespace fabric
} // namespace ns3

// SPDX-License-Identifier: GPL-2.0-only

#include "block-code.h"

#include <algorithm>

namespace ns3
{

BlockCode::BlockCode(uint32_t data, uint32_t parity, uint32_t depth)
    : m_data(data),
      m_parity(parity),
      m_depth(depth)
{
}

BlockCode::Group
BlockCode::GroupAt(uint32_t messagePackets, uint32_t group) const
{
    const uint32_t most = m_data * m_depth;
    Group found;
    found.first = group * (most + m_parity * m_depth);
    found.firstBlock = group * m_depth;
    found.firstData = group * most;
    found.data = std::min(most, messagePackets - found.firstData);
    found.blocks = std::min(m_depth, found.data);
    return found;
}

uint32_t
BlockCode::Blocks(uint32_t messagePackets) const
{
    const uint32_t groups = messagePackets / (m_data * m_depth);
    return groups * m_depth + std::min(m_depth, messagePackets % (m_data * m_depth));
}

uint64_t
BlockCode::Packets(uint32_t messagePackets) const
{
    return messagePackets + uint64_t{Blocks(messagePackets)} * m_parity;
}

uint32_t
BlockCode::BlockOf(uint32_t messagePackets, uint32_t packet) const
{
    const Group group = GroupAt(messagePackets, packet / ((m_data + m_parity) * m_depth));
    return group.firstBlock + (packet - group.first) % group.blocks;
}

BlockCode::Block
BlockCode::At(uint32_t messagePackets, uint32_t block) const
{
    const Group group = GroupAt(messagePackets, block / m_depth);
    const uint32_t turn = block - group.firstBlock;
    const uint32_t data = (group.data - turn + group.blocks - 1) / group.blocks;
    return {.first = group.first + turn,
            .data = data,
            .packets = data + m_parity,
            .stride = group.blocks};
}

uint32_t
BlockCode::MessagePacket(uint32_t messagePackets, uint32_t packet) const
{
    const Group group = GroupAt(messagePackets, packet / ((m_data + m_parity) * m_depth));
    const uint32_t place = packet - group.first;
    return place < group.data ? group.firstData + place : messagePackets;
}

} // namespace ns3

// SPDX-License-Identifier: GPL-2.0-only

#ifndef WAN_BLOCK_CODE_H
#define WAN_BLOCK_CODE_H

#include <cstdint>

namespace ns3
{

/**
 * @ingroup wan
 * @brief Where the packets of a message lie in the blocks of an erasure code, and in which order
 * they are sent.
 *
 * A block of up to `data` packets of the message is followed by `parity` packets; as many of them
 * as there are packets of the message, any, give the block back (systematic, maximum distance
 * separable). `depth` blocks are sent together, packet by packet in turn, so that a burst of up to
 * `depth` x `parity` losses costs none of them more than `parity`. Blocks of the last group are as
 * even as they can be. Packets are numbered as they are sent.
 *
 * **Source** Reed and Solomon, SIAM 8(2), 1960: a code of that kind; RFC 5510 for packets.
 */
class BlockCode
{
  public:
    /// A block of a message: where its packets are among those that are sent.
    struct Block
    {
        uint32_t first;   ///< Its first packet
        uint32_t data;    ///< Packets of the message
        uint32_t packets; ///< With parity
        uint32_t stride;  ///< From one of its packets to the next

        /// @return number of a packet of the block, counted from 0, data first
        uint32_t At(uint32_t index) const
        {
            return first + index * stride;
        }
    };

    BlockCode() = default;
    /**
     * @param data packets of the message in a full block, above 0
     * @param parity packets of parity in each block, 0: no code
     * @param depth blocks that are sent together, above 0
     */
    BlockCode(uint32_t data, uint32_t parity, uint32_t depth);

    bool IsUsed() const
    {
        return m_parity > 0;
    }

    /// @return packets that are sent for this many of a message
    uint64_t Packets(uint32_t messagePackets) const;
    /// @return number of blocks of a message
    uint32_t Blocks(uint32_t messagePackets) const;
    /// @return block in which a packet lies
    uint32_t BlockOf(uint32_t messagePackets, uint32_t packet) const;
    /// @return packets of a block
    Block At(uint32_t messagePackets, uint32_t block) const;
    /// @return packet of the message that this is, `messagePackets` if it is parity
    uint32_t MessagePacket(uint32_t messagePackets, uint32_t packet) const;

  private:
    /// Blocks that are sent together.
    struct Group
    {
        uint32_t first;      ///< Its first packet
        uint32_t firstBlock; ///< Its first block
        uint32_t firstData;  ///< Its first packet of the message
        uint32_t data;       ///< Packets of the message
        uint32_t blocks;
    };

    Group GroupAt(uint32_t messagePackets, uint32_t group) const;

    uint32_t m_data{1};
    uint32_t m_parity{0};
    uint32_t m_depth{1};
};

} // namespace ns3

#endif // WAN_BLOCK_CODE_H

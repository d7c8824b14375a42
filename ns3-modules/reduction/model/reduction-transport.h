// SPDX-License-Identifier: GPL-2.0-only

#ifndef REDUCTION_TRANSPORT_H
#define REDUCTION_TRANSPORT_H

#include "reduction-groups.h"

#include "ns3/nstime.h"
#include "ns3/packet-window.h"
#include "ns3/segmentation.h"
#include "ns3/transport.h"

#include <deque>
#include <map>
#include <unordered_map>

namespace ns3
{

/// Flags of frames of a reduction; what has neither carries contributions up the tree.
namespace reduction_flag
{
constexpr uint16_t RESULT = fabric::frame_flag::FREE;         ///< Carries the sum of all ranks
constexpr uint16_t MULTICAST = fabric::frame_flag::FREE << 1; ///< Switches copy it to all ranks
} // namespace reduction_flag

/**
 * @ingroup reduction
 * @brief A host of a reduction: sends its part of each chunk up, and takes in the sums.
 *
 * Flows that close a ring are one all-reduce of `bytes` (ReductionGroups). At most Window chunks of
 * MtuBytes are without a result. Everything is addressed to rank 0, whose host adds up what no
 * switch has, and sends that result to all. A chunk without a result after Rto is sent again, past
 * all switches, to that host; it answers with the result if it has it, and asks the others for
 * those that it lacks itself.
 *
 * **Source**: SHARP (Graham et al., COM-HPC 2016): trees, chunks, finite slots; a host that
 * completes what switches do not: ATP (Lao et al., NSDI 2021), section 3.
 *
 * **Not modelled**: setting up the tree, data types, the time to add. One plane for each group.
 */
class ReductionTransport final : public fabric::Transport
{
  public:
    static TypeId GetTypeId();

    void StartMessage(uint32_t message) override;
    void Receive(fabric::FrameId frame, fabric::PortId port) override;
    fabric::FrameId NextFrame(fabric::PortId port, const fabric::NicState& nic) override;
    void OnTimer(uint32_t token) override;

    Traits GetTraits() const override
    {
        return {.wire = {m_mtuBytes, m_headerBytes, 0, fabric::MIN_FRAME_BYTES, 1},
                .dataPriority = m_priority,
                .controlPriority = m_controlPriority,
                .isAcknowledged = false};
    }

    std::optional<uint16_t> SinglePathEntropy(uint32_t message) const override;

  private:
    void DoAttach() override;

    /// An all-reduce that this host takes part in.
    struct Operation
    {
        ReductionGroups::Group group;
        uint32_t rank{0};
        uint32_t chunks{0};
        fabric::PortId port{0};
        uint32_t next{0};                           ///< First chunk that was never sent
        fabric::PacketWindow have;                  ///< Chunks with a result
        std::unordered_map<uint32_t, RankSet> sums; ///< Rank 0: of chunks that it completes
        uint64_t progressPs{0};                     ///< Last result, start or timeout [ps]
        uint32_t timeouts{0};                       ///< In a row
    };

    /// A frame that is to be sent besides new chunks.
    struct Extra
    {
        uint32_t group;
        uint32_t chunk;
        uint16_t flags;
        uint32_t rank; ///< Of a result that goes to one host
    };

    Operation& Find(uint32_t message);
    uint64_t DuePs(const Operation& operation) const;
    fabric::FrameId Make(const Operation& operation, const Extra& extra);
    void Contribute(Operation& operation, const Extra& extra, const RankSet& ranks);
    void Finish(Operation& operation, uint32_t chunk);
    void Repeat(uint32_t groupIndex, Operation& operation);
    uint32_t HostOf(const Operation& operation, uint32_t rank) const;

    std::optional<ReductionGroups> m_groups;
    std::map<uint32_t, Operation> m_operations; ///< By group
    std::deque<uint32_t> m_active;              ///< Groups with chunks to send, next first
    std::deque<Extra> m_extra;
    fabric::Segmentation m_cut; ///< Of a reduction into chunks
    uint32_t m_mtuBytes{0};
    uint32_t m_headerBytes{0};
    uint32_t m_window{0};
    uint32_t m_requestBytes{0};
    Time m_rto;
    uint64_t m_rtoPs{0};
    uint8_t m_priority{0};
    uint8_t m_controlPriority{0};
};

} // namespace ns3

#endif // REDUCTION_TRANSPORT_H

// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_QUEUE_DISCIPLINE_H
#define FABRIC_QUEUE_DISCIPLINE_H

#include "plugin.h"
#include "switch-context.h"

#include <limits>

namespace ns3
{
namespace fabric
{

/**
 * @ingroup fabric
 * @brief Contract: what a switch port does with a frame that wants into its queue or out of it.
 *
 * One object serves all ports of the switches of a class; state per port lies in arrays of its
 * own. The queue itself (one per class, first in first out) belongs to the fabric, and so does the
 * count of what is marked, trimmed, bounced or dropped.
 *
 * Only what MayTrim is ever trimmed, and only what MayBounce is sent back. Other frames for which a
 * discipline asks this are dropped, and their port counts the verdict as refused. In a lossless
 * class all verdicts mean ADMIT: such a class is bounded where it comes in, not where it goes out.
 */
class QueueDiscipline : public Plugin
{
  public:
    /// What to do with an arriving frame.
    enum class Verdict
    {
        ADMIT,
        DROP,
        TRIM,      ///< Cut to trimBytes, set TRIMMED and ask again at trimPriority
        TRIM_TAIL, ///< The same with the last frame of the queue, whose place this one takes
        BOUNCE,    ///< Cut to trimBytes, set BOUNCED and send it back to its source
    };

    /// Queues up to these sizes need no calls.
    struct QuietBytes
    {
        uint64_t admit;  ///< Admit says ADMIT while no more than this waits, the frame included
        uint64_t depart; ///< Depart does nothing as long as no more than this stays behind
    };

    /// What it does with a priority; does not change once the attributes are set.
    struct Traits
    {
        bool marks{false};     ///< Frames may get ECN_MARKED
        bool trims{false};     ///< Data may be trimmed
        bool mayRepeat{false}; ///< It does the same with the same frames whenever they come to
                               ///< empty queues, unless NumDraws grows: engine.skip may leave out
                               ///< whole periods of them
        uint32_t trimBytes{MIN_FRAME_BYTES};      ///< Size of a frame that is trimmed [byte]
        uint8_t trimPriority{NUM_PRIORITIES - 1}; ///< Of a frame that is trimmed or bounced
    };

    static constexpr uint64_t ALWAYS = std::numeric_limits<uint64_t>::max();

    /// @return whether there is a payload to cut: of data that allows it and is larger than that
    static bool MayTrim(const Frame& frame, uint32_t trimBytes)
    {
        return frame.kind == frame_kind::DATA && (frame.flags & frame_flag::TRIMMABLE) &&
               frame.bytes > trimBytes;
    }

    /// @return whether its headers can go back: of what can be trimmed or was, and was not sent
    /// back
    static bool MayBounce(const Frame& frame, uint32_t trimBytes)
    {
        const bool isHeader = frame.kind == frame_kind::DATA && (frame.flags & frame_flag::TRIMMED);
        return !(frame.flags & frame_flag::BOUNCED) && (isHeader || MayTrim(frame, trimBytes));
    }

    static TypeId GetTypeId();

    virtual Traits GetTraits(uint8_t) const ///< By priority; also asked before Attach
    {
        return {};
    }

    virtual void Attach(SwitchContext& context) = 0; ///< Called once, when the ports exist

    /// @return when this class of any port needs no calls; {0, 0}: it always needs them [byte]
    virtual QuietBytes Quiet(uint8_t priority) const;

    /**
     * Decide on an arriving frame; may set ECN_MARKED.
     * @param port egress port
     * @param frame the frame
     * @param queuedBytes bytes waiting in this class of the port, without this frame [byte]
     */
    virtual Verdict Admit(PortId port, Frame& frame, uint64_t queuedBytes) = 0;

    /// @return random numbers that it has drawn until now. Only if mayRepeat.
    virtual uint64_t NumDraws() const
    {
        return 0;
    }

    /// A frame leaves its queue for the wire; `queuedBytes` stay behind [byte]. May set ECN_MARKED.
    virtual void Depart(PortId port, Frame& frame, uint64_t queuedBytes);
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_QUEUE_DISCIPLINE_H

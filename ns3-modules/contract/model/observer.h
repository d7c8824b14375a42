// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_OBSERVER_H
#define FABRIC_OBSERVER_H

#include "transport.h"

#include "ns3/engine-state.h"
#include "ns3/instant.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace ns3
{
namespace fabric
{

/// Why the other end of a link sent PAUSE.
struct PauseReason
{
    EnginePs sentPs;        ///< When it decided to [ps]; 0: it sent none, as with credits
    PortId toward{NO_PORT}; ///< Egress, there, of the frame that was one too many
};

/// A part of a run that is not executed, or a piece of one.
struct SkippedTime
{
    /// What a message sends in it.
    struct Sent
    {
        uint32_t message;
        uint64_t packets;
        uint32_t frameBytes; ///< Of each, without framing [byte]
    };

    /// What a port has done in all that was skipped until its end.
    struct Total
    {
        uint64_t sentBytes{0}; ///< With framing [byte]
        uint64_t pausedPs{0};
    };

    EnginePs clockPs; ///< Of the engine, whose clock stands still [ps]
    WorldPs untilPs;  ///< [ps]
    bool isSampled;   ///< Samples are taken at its end, before the next piece
    std::vector<Sent> sent;
    std::vector<Total> ports; ///< By port
};

/**
 * @ingroup fabric
 * @brief Looks at a run: samples, logs, captures, steady states.
 *
 * An engine calls it for what it wants alone; a run without observers makes none of these calls.
 */
class Observer
{
  public:
    /// What it wants to be called for.
    enum Wish : uint32_t
    {
        STARTS = 1 << 0,   ///< OnStart, OnDisturbance
        ARRIVALS = 1 << 1, ///< OnDataArrived
        PAUSES = 1 << 2,   ///< OnPauseChanged
        FRAMES = 1 << 3,   ///< OnSent, OnReceived
        ALL = 1 << 4,      ///< Nothing may be left out of the run
    };

    virtual ~Observer() = default;

    /// @return what it wants, Wish by Wish
    virtual uint32_t Wishes() const = 0;

    virtual void OnStart(uint32_t message)
    {
    }

    /// A message has arrived or is admitted to another rate, or a link or the routes change.
    virtual void OnDisturbance()
    {
    }

    virtual void OnDataArrived(const Frame& frame, uint32_t node)
    {
    }

    /// Other classes (bit masks) of an egress are held back than before.
    virtual void OnPauseChanged(PortId port,
                                uint16_t before,
                                uint16_t after,
                                const PauseReason& reason)
    {
    }

    virtual void OnSent(PortId port, const Frame& frame) ///< Its first bit leaves by this port
    {
    }

    virtual void OnReceived(PortId port, const Frame& frame) ///< Its last bit has come to a host
    {
    }

    virtual void OnSkip(const SkippedTime& piece) ///< A part of the run is left out, or a piece
    {
    }

    /// @return time after which Look is called, before anything that is later happens [ps]
    virtual EnginePs NextLookPs() const
    {
        return EnginePs::Never();
    }

    virtual void Look(EnginePs nextPs) ///< Nothing more happens before this [ps]
    {
    }

    virtual bool SeesInstants() const ///< OnInstant is wanted; asked after Look
    {
        return false;
    }

    virtual void OnInstant(const Instant& instant) ///< Events that are about to be executed
    {
    }

    virtual bool EndsRun() const ///< Nothing more is to be executed; asked after Look
    {
        return false;
    }

    virtual void Finish() ///< Nothing more will be executed
    {
    }

    virtual uint64_t MemoryBytes() const ///< Of what it has recorded [byte]
    {
        return 0;
    }
};

/**
 * @ingroup fabric
 * @brief A run as its observers see it; one that steers it may leave parts of it out.
 */
class ObservedRun
{
  public:
    virtual const EngineState& State() const = 0;
    /// @return all plug-ins of this engine
    virtual const std::vector<Ptr<Object>>& Plugins() const = 0;
    virtual WireProfile WireOf(uint32_t transport) const = 0; ///< How it cuts messages into frames
    virtual Transport& SourceOf(uint32_t message) const = 0;  ///< The end that sends it
    virtual Datagram DescribeFrame(const Frame& frame) const = 0; ///< Behind its UDP header
    /// @return what a frame of link control holds behind its EtherType
    virtual WireBytes MacControlOf(PortId from, const Frame& frame) const = 0;

    // ---- for one that steers
    virtual EnginePs LimitPs() const = 0;            ///< Nothing later is executed for now [ps]
    virtual bool LosesFrames() const = 0;            ///< At random, or scripted
    virtual uint32_t Wishes() const = 0;             ///< Of all observers, Wish by Wish
    virtual void Show(const SkippedTime& piece) = 0; ///< To all observers; pieces in their order
    /// Leave a part of the run out, which was shown: messages become shorter by what they send in
    /// it, and what happens at times of the world comes earlier on the engine's clock.
    virtual void Skip(uint64_t byPs, const std::vector<SkippedTime::Sent>& sent) = 0;

  protected:
    ~ObservedRun() = default;
};

/// @return how long an egress was held back until a time [ps]
inline uint64_t
PausedByClock(const FabricNetwork& network, PortId port, EnginePs atPs)
{
    const PortCounters& counters = network.counters[port];
    const bool isPaused = network.ports[port].paused != 0 && !network.ports[port].down;
    return counters.pausedPs + (isPaused ? atPs.Ps() - counters.pausedSincePs : 0);
}

} // namespace fabric
} // namespace ns3

#endif // FABRIC_OBSERVER_H

// SPDX-License-Identifier: GPL-2.0-only

#ifndef PYORCH_NETWORK_H
#define PYORCH_NETWORK_H

#include "astra-sim/common/AstraNetworkAPI.hh"

#include <cstdint>
#include <map>
#include <memory>
#include <queue>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

struct PyorchSession;

/// What ASTRA-sim wants to be called, and with what.
struct Handler
{
    void (*function)(void*);
    void* argument;
};

/**
 * A session of pyorch, with the clock of ASTRA-sim.
 *
 * A message is one of AstraNetworkAPI: it starts when it is sent. Sender and receiver hear of it
 * when its last byte has arrived, as in ASTRA-sim's own analytical networks. Messages of one
 * sender, receiver and tag are matched in the order in which they were sent.
 */
class PyorchNetwork
{
  public:
    /// Open the network of a session file; rank i is the host with node id i.
    explicit PyorchNetwork(const std::string& path);
    ~PyorchNetwork();

    void Send(int src, int dst, int tag, uint64_t bytes, Handler sent);
    void Receive(int src, int dst, int tag, Handler received);
    void Schedule(long double delayNs, Handler handler); ///< Call later
    long double NowNs() const;
    void Run(); ///< Until nothing is left to happen

    uint64_t NumMessages() const
    {
        return m_messages;
    }

  private:
    using Label = std::tuple<int, int, int>; ///< Source, destination and tag

    /// What is known of the messages of a label.
    struct Matching
    {
        std::queue<Handler> waiting;     ///< Receivers, in their order
        uint64_t sent{0};                ///< Messages
        uint64_t received{0};            ///< Of them, those whose receiver was called
        std::map<uint64_t, bool> arrived; ///< By their place among the sent ones
    };

    /// A message under way.
    struct UnderWay
    {
        Label label;
        uint64_t place;
        Handler sent;
    };

    /// A call at a time; those of one time are made in the order in which they were asked for.
    struct Timer
    {
        int64_t atPs;
        uint64_t order;
        Handler handler;

        bool operator>(const Timer& other) const
        {
            return std::tie(atPs, order) > std::tie(other.atPs, other.order);
        }
    };

    void Arrive(int64_t message);
    void Match(Matching& matching);

    PyorchSession* m_session;
    uint64_t m_messages{0};
    uint64_t m_timers{0};
    std::map<Label, Matching> m_matching;
    std::unordered_map<int64_t, UnderWay> m_underWay;
    std::priority_queue<Timer, std::vector<Timer>, std::greater<>> m_due;
};

/// The network as one rank sees it.
class PyorchRank : public AstraSim::AstraNetworkAPI
{
  public:
    PyorchRank(int rank, PyorchNetwork& network);

    int sim_send(void* buffer,
                 uint64_t count,
                 int type,
                 int dst,
                 int tag,
                 AstraSim::sim_request* request,
                 void (*msg_handler)(void*),
                 void* fun_arg) override;
    int sim_recv(void* buffer,
                 uint64_t count,
                 int type,
                 int src,
                 int tag,
                 AstraSim::sim_request* request,
                 void (*msg_handler)(void*),
                 void* fun_arg) override;
    void sim_schedule(AstraSim::timespec_t delta,
                      void (*fun_ptr)(void*),
                      void* fun_arg) override;
    AstraSim::timespec_t sim_get_time() override;

  private:
    PyorchNetwork& m_network;
};

#endif // PYORCH_NETWORK_H

// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_FACADE_H
#define FABRIC_FACADE_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{
namespace fabric
{

class Transport;

/**
 * @ingroup fabric
 * @brief What Python calls: columns in, one run, columns out.
 *
 * This header includes nothing of ns-3, so a just-in-time compiler parses it in milliseconds.
 * Every method that can fail throws std::runtime_error with one line that says what, where and
 * what is allowed; a fatal error or failed assertion inside ns-3 arrives the same way.
 *
 * Order of use: Factory/Attribute, Section/Use/Transport/Engine, Column, Build, RunSlice until it
 * returns true, Finish, then Rows/Data. One facade per process at a time.
 */
class Facade
{
  public:
    Facade();  ///< Select picosecond time and FabricSimulatorImpl
    ~Facade(); ///< Destroy the simulator
    Facade(const Facade&) = delete;
    Facade& operator=(const Facade&) = delete;

    /// @return handle of a new ns-3 object factory for this TypeId
    uint32_t Factory(const std::string& typeId);
    /// Set an attribute of a factory; value in ns-3's own spelling, for example "4ms"
    void Attribute(uint32_t factory, const std::string& name, const std::string& value);
    /// There may be links of this class, links.class, also if Use says nothing of it.
    void LinkClass(uint32_t index);
    /**
     * Use a factory's object in a role.
     * @param role of a class of nodes: "queue", "scheduler", "forwarding", "program" (several are
     *        called in this order); of a class of links: "flow_control", "loss_model"
     * @param factory handle
     * @param index of the class, nodes.class or links.class
     */
    void Use(const std::string& role, uint32_t factory, uint32_t index = 0);
    /// Refuse attributes of a factory that do not fit together
    void Check(uint32_t factory) const;
    /// @return traits of a factory's object, as DescribeTraits has them
    std::string TraitsOf(uint32_t factory) const;
    /// Refuse plug-ins of the classes 0 of nodes and links and transports that do not fit together
    void CheckCombination() const;
    /// Add a transport. @return its index, the value of flows.transport
    uint32_t Transport(uint32_t factory);
    /// Let a factory's object make the run: ns3::PacketEngine if nothing is said
    void Engine(uint32_t factory);
    /**
     * Take the options of a factory's object, a section of a scenario: "ns3::Wire", "ns3::Trace".
     * @param factory handle
     * @param index of the class, nodes.class, of "ns3::Switch" and "ns3::SwitchClass"; of the
     *        transport, flows.transport, of "ns3::Host"
     */
    void Section(uint32_t factory, uint32_t index = 0);
    /// Give the root of every random stream: 1 if nothing is said
    void Seed(uint64_t seed);

    /// Give one integer column of an input table ("nodes", "links", "flows", "tasks", "drops",
    /// "link_events", "loss_changes", "dependencies", "sampled", "routes", "rate_changes")
    void Column(const std::string& table,
                const std::string& column,
                const int64_t* values,
                size_t rows);
    /// Give one real column of an input table
    void RealColumn(const std::string& table,
                    const std::string& column,
                    const double* values,
                    size_t rows);

    /**
     * Write what a host sends and receives to a pcap file, which gets its name in Finish.
     * @param host node id
     * @param path of the file
     */
    void Capture(int64_t host, const std::string& path);

    void Open();  ///< Append may be called although no row decides
    void Build(); ///< Check the tables and compile them into the engine's arrays
    /**
     * Run for about a given time of the wall clock.
     * @param stopPs end of simulated time [ps]
     * @param wallSeconds time after which to return to the caller [s]
     * @return true when every flow and task is done, or the stop time is reached, or nothing is
     *         left to do, or somebody has to decide
     */
    bool RunSlice(int64_t stopPs, double wallSeconds);
    /// Check the identities, fill the output tables and complete the captures
    void Finish();

    // ---- for a controller, while RunSlice has returned
    /// A flow is admitted to another rate from some time on: a row of "rate_changes"
    void ChangeRate(int64_t timePs, int64_t flow, int64_t rateBps);
    /// A flow leaves a switch by another link from some time on: a row of "routes"
    void ChangeRoute(int64_t fromPs,
                     int64_t flow,
                     int64_t node,
                     int64_t peer,
                     int64_t parallel,
                     bool reverse);
    /**
     * Ask which tasks that decide, tasks.decides, have ended, and which messages that decide,
     * flows.decides, have arrived. RunSlice returns true after such a time, and executes nothing
     * more before it is asked.
     * @return their ids, in the order in which they have ended
     */
    std::vector<int64_t> Decided();
    /// Take what Column has said since: further flows, tasks and dependencies, with later ids
    void Append();
    /// Take one further flow, which decides; its ends are node ids. @return its id
    int64_t Send(int64_t src, int64_t dst, int64_t bytes, int64_t startPs, int64_t transport);
    /// Fill the tables "seen_flows" and "seen_ports" with what has been counted so far.
    void Look();

    /// @return why the network cannot be cut into several domains; "" if it can
    std::string WhyOneDomain() const;

    /// @return node ids of switches that wait for each other's buffers for ever; empty if none do
    std::vector<int64_t> DeadlockCycle() const;

    /// @return the end of a transport at a host, by node id, for models in C++; null: none there
    fabric::Transport* TransportAt(int64_t host, uint32_t transport) const;

    /// @return the stack of the exception that was thrown last, as PyorchTraceCrashes writes it;
    /// empty if the exception says itself what is wrong
    std::string ThrownAt() const;

    int64_t NowPs() const;        ///< Simulated time [ps]
    uint64_t Events() const;      ///< Events executed
    uint64_t FlowsDone() const;   ///< Flows whose sender has every acknowledgement
    uint64_t FlowsTotal() const;  ///< Flows of the input table
    uint64_t TasksDone() const;   ///< Computations and barriers that have ended
    uint64_t TasksTotal() const;  ///< Rows of the input table "tasks"
    uint64_t DataPackets() const; ///< Data packets accepted by receiving hosts

    std::vector<std::string> Tables() const;                          ///< Output tables
    std::vector<std::string> Columns(const std::string& table) const; ///< Columns of one
    size_t Rows(const std::string& table) const;                      ///< Rows of one
    /// @return the values of one output column; valid until it is dropped or made anew
    const int64_t* Data(const std::string& table, const std::string& column) const;
    /// Free an output column that has been copied; its table has it no more.
    void Drop(const std::string& table, const std::string& column);

  private:
    struct State;
    std::unique_ptr<State> m_state;
};

/**
 * Describe every TypeId that a scenario may name.
 * @return JSON list of {name, contract, help, attributes: [{name, help, default, type, range}]}
 */
std::string DescribeTypeIds();

// ---- in C, for who has no compiler at hand

extern "C"
{
    /// Let a signal that ends this process leave its stack in a file: lines of "library offset",
    /// hex.
    void PyorchTraceCrashes(const char* path);

    /// A type with attributes, its library is loaded.
    struct PyorchPart
    {
        const char* role; ///< As Facade::Use has it, "transport", or "section"
        const char* typeId;
        const char* const* attributes; ///< Names and values in turn
        size_t count;                  ///< How many attributes
    };

    /// A column of an input table, as Facade::Column takes it.
    struct PyorchColumn
    {
        const char* table;
        const char* column;
        const int64_t* values;
        size_t rows;
    };

    /**
     * Ask what the engine refuses of types with attributes: of each, of several together, and of
     * these in a network, if there are columns of one.
     * @return a line, empty if it refuses nothing; behind it, if nobody has thrown an exception to
     * say what is wrong, the stack as above; valid until the next call
     */
    const char* PyorchRefusal(const PyorchPart* parts,
                              size_t numParts,
                              const PyorchColumn* columns,
                              size_t numColumns);
}

} // namespace fabric
} // namespace ns3

#endif // FABRIC_FACADE_H

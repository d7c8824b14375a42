// SPDX-License-Identifier: GPL-2.0-only

// ASTRA-sim with a session of pyorch as its network; docs/sessions.md says how it is called.

#include "pyorch-network.h"

#include "astra-sim/common/Logging.hh"
#include "astra-sim/system/Sys.hh"
#include "astra-sim/workload/Workload.hh"

#include <iostream>
#include <remote_memory_backend/analytical/AnalyticalRemoteMemory.hh>
#include <sstream>

namespace
{

/// @return the sizes of the logical dimensions: "8" or "8x4"
std::vector<int>
Dimensions(const std::string& text)
{
    std::vector<int> sizes;
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, 'x');)
    {
        sizes.push_back(std::stoi(part));
    }
    return sizes;
}

} // namespace

int
main(int argc, char* argv[])
{
    if (argc != 6)
    {
        std::cerr << "usage: " << argv[0]
                  << " SESSION DIMENSIONS WORKLOAD SYSTEM.json REMOTE_MEMORY.json" << std::endl;
        return 1;
    }
    AstraSim::LoggerFactory::init("empty", "log");
    PyorchNetwork network(argv[1]);
    const std::vector<int> dimensions = Dimensions(argv[2]);
    int ranks = 1;
    for (const int size : dimensions)
    {
        ranks *= size;
    }
    Analytical::AnalyticalRemoteMemory memory(argv[5]);
    const std::vector<int> queues(dimensions.size(), 1);
    std::vector<std::unique_ptr<PyorchRank>> networks;
    std::vector<AstraSim::Sys*> systems;
    for (int rank = 0; rank < ranks; rank++)
    {
        networks.push_back(std::make_unique<PyorchRank>(rank, network));
        systems.push_back(new AstraSim::Sys(rank,
                                            argv[3],
                                            "empty",
                                            argv[4],
                                            &memory,
                                            networks.back().get(),
                                            dimensions,
                                            queues,
                                            1.0,
                                            1.0,
                                            false));
    }
    for (auto* system : systems)
    {
        system->workload->fire();
    }
    network.Run();
    std::cout << network.NumMessages() << " messages, "
              << static_cast<double>(network.NowNs()) / 1000 << " us" << std::endl;
    for (auto* system : systems)
    {
        delete system;
    }
    AstraSim::LoggerFactory::shutdown();
    return 0;
}

// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/frame-pool.h"
#include "ns3/test.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace ns3
{
namespace tests
{

using namespace fabric;

namespace
{

/// @return address space of this process [byte]
uint64_t
AddressSpaceBytes()
{
    uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

/// Forbids this process, while alive, to take more address space than it has and so many bytes.
class AddressSpaceLimit
{
  public:
    explicit AddressSpaceLimit(uint64_t moreBytes)
    {
        getrlimit(RLIMIT_AS, &m_before);
        const rlimit limit{AddressSpaceBytes() + moreBytes, m_before.rlim_max};
        setrlimit(RLIMIT_AS, &limit);
    }

    ~AddressSpaceLimit()
    {
        setrlimit(RLIMIT_AS, &m_before);
    }

  private:
    rlimit m_before{};
};

} // namespace

/// Two pools grow by turns to a million frames each. Oracle: a frame has the place and the content
/// that it had; and all that fits into the bytes that frames, notes and the list of free frames
/// take, 32 + 48 + 4 of each, with one step of room.
class FramesStayWhereTheyAre : public TestCase
{
  public:
    FramesStayWhereTheyAre()
        : TestCase("a pool that grows")
    {
    }

  private:
    void DoRun() override
    {
        constexpr uint32_t FRAMES = 1'000'000;
        constexpr uint64_t STEP = 1 << 18;
        const AddressSpaceLimit limit(2 * (FRAMES + STEP) * (32 + 48 + 4));
        FramePool pools[2];
        const Frame* first[2]{};
        const FrameNote* note[2]{};
        for (uint32_t i = 0; i < FRAMES; i++)
        {
            for (uint32_t pool = 0; pool < 2; pool++)
            {
                const FrameId id = pools[pool].Allocate();
                pools[pool][id].packet = 2 * i + pool;
                pools[pool].Note(id).stampPs = 3 * i + pool;
                first[pool] = i == 0 ? &pools[pool][id] : first[pool];
                note[pool] = i == 0 ? &pools[pool].Note(id) : note[pool];
            }
        }
        uint32_t wrong = 0;
        for (uint32_t pool = 0; pool < 2; pool++)
        {
            NS_TEST_EXPECT_MSG_EQ(&pools[pool][0], first[pool], "the first frame has moved");
            NS_TEST_EXPECT_MSG_EQ(&pools[pool].Note(0), note[pool], "its note has moved");
            NS_TEST_EXPECT_MSG_EQ(pools[pool].Peak(), FRAMES, "frames");
            for (FrameId id = 0; id < FRAMES; id++)
            {
                wrong += pools[pool][id].packet != 2 * id + pool;
                wrong += pools[pool].FindNote(id)->stampPs != 3ULL * id + pool;
                pools[pool].Free(id);
            }
            NS_TEST_EXPECT_MSG_EQ(pools[pool].Allocated(), 0, "all are free");
            pools[pool].GiveBack();
            const FrameId last = pools[pool].Allocate();
            NS_TEST_EXPECT_MSG_EQ(last, FRAMES - 1, "the last that was freed is used next");
        }
        NS_TEST_EXPECT_MSG_EQ(wrong, 0, "contents");
    }
};

/// Frames come, get hops, swap their contents and go, at random. Oracle: a list for each frame.
/// Some frames pass more switches than a block has hops.
class HopsStayWithTheirFrames : public TestCase
{
  public:
    HopsStayWithTheirFrames()
        : TestCase("hops of frames")
    {
    }

  private:
    void DoRun() override
    {
        constexpr uint64_t STEPS = 200'000;
        constexpr size_t MOST = 20;
        FramePool pool;
        std::map<FrameId, std::vector<uint64_t>> expected;
        std::mt19937 random(1);
        const auto any = [&] { return std::next(expected.begin(), random() % expected.size()); };
        uint32_t wrong = 0;
        for (uint64_t step = 0; step < STEPS; step++)
        {
            const auto what = random() % 8;
            if (expected.size() < 2 || (what == 0 && expected.size() < 50))
            {
                expected[pool.Allocate()];
            }
            else if (what == 1)
            {
                const auto frame = any();
                pool.Free(frame->first);
                expected.erase(frame);
            }
            else if (what == 2)
            {
                const auto [a, b] = std::pair{any(), any()};
                pool.SwapContents(a->first, b->first);
                std::swap(a->second, b->second);
            }
            else if (auto& [frame, hops] = *any(); hops.size() < MOST)
            {
                pool.AddHop(frame, {.sentBytes = step, .port = frame});
                hops.push_back(step);
            }
            const auto& [frame, hops] = *any();
            wrong += !std::ranges::equal(pool.Hops(frame), hops, {}, &IntHop::sentBytes);
        }
        NS_TEST_EXPECT_MSG_EQ(wrong, 0, "hops");
        NS_TEST_EXPECT_MSG_EQ(pool.Allocated(), expected.size(), "frames");
    }
};

class FabricFramePoolTestSuite : public TestSuite
{
  public:
    FabricFramePoolTestSuite()
        : TestSuite("fabric-frame-pool", Type::UNIT)
    {
        AddTestCase(new FramesStayWhereTheyAre, Duration::QUICK);
        AddTestCase(new HopsStayWithTheirFrames, Duration::QUICK);
    }
};

static FabricFramePoolTestSuite g_fabricFramePoolTestSuite; ///< Registers itself

} // namespace tests
} // namespace ns3

// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/reserved-array.h"
#include "ns3/test.h"

#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{
namespace tests
{

using namespace fabric;

namespace
{

constexpr uint32_t ELEMENTS = 1 << 20; ///< 8 MiB

/// @return memory of this process that it shares with nothing and no file [byte]
uint64_t
AnonymousBytes()
{
    std::ifstream file("/proc/self/smaps_rollup");
    std::string word;
    uint64_t kilobytes = 0;
    while (file >> word && word != "Anonymous:")
    {
    }
    file >> kilobytes;
    return 1024 * kilobytes;
}

} // namespace

/// Forty arrays begin with one that was frozen. Oracle: each has what was frozen, but for what it
/// has written itself, whatever the others write; and forty arrays that write one element each take
/// forty pages of memory, not forty times all.
class ArraysBeginWithWhatWasFrozen : public TestCase
{
  public:
    ArraysBeginWithWhatWasFrozen()
        : TestCase("arrays that share pages")
    {
    }

  private:
    void DoRun() override
    {
        constexpr uint32_t OTHERS = 40;
        ReservedArray<uint64_t> first(ELEMENTS);
        for (uint32_t i = 0; i < ELEMENTS; i++)
        {
            first[i] = 3ULL * i;
        }
        first.Freeze();
        first[7] = 1;
        const uint64_t beforeBytes = AnonymousBytes();
        std::vector<std::unique_ptr<ReservedArray<uint64_t>>> others;
        for (uint32_t other = 0; other < OTHERS; other++)
        {
            others.push_back(std::make_unique<ReservedArray<uint64_t>>(ELEMENTS));
            others.back()->BeginWith(first);
            (*others.back())[1000 * other] = other;
        }
        first[2'000] = 2;
        uint32_t wrong = 0;
        for (uint32_t other = 0; other < OTHERS; other++)
        {
            for (uint32_t i = 0; i < ELEMENTS; i += 500)
            {
                wrong += (*others[other])[i] != (i == 1000 * other ? other : 3ULL * i);
            }
            wrong += (*others[other])[7] != 21;
        }
        NS_TEST_EXPECT_MSG_EQ(wrong, 0, "contents");
        NS_TEST_EXPECT_MSG_LT(AnonymousBytes(), beforeBytes + 8 * ELEMENTS, "memory");
        others[1]->Restore(0, ELEMENTS);
        NS_TEST_EXPECT_MSG_EQ((*others[1])[1000], 3000, "as it was frozen");
    }
};

/// An array that begins with another one grows on its own.
class ArraysGrowAfterwards : public TestCase
{
  public:
    ArraysGrowAfterwards()
        : TestCase("arrays that share pages and grow")
    {
    }

  private:
    void DoRun() override
    {
        GrowingArray<uint64_t> first(512, ELEMENTS);
        GrowingArray<uint64_t> second(512, ELEMENTS);
        first.Reserve(1024);
        first[700] = 5;
        first.Freeze(701);
        first[700] = 6;
        second.BeginWith(first);
        for (auto* array : {&first, &second})
        {
            array->Reserve(ELEMENTS);
            (*array)[ELEMENTS - 1] = 9;
            NS_TEST_EXPECT_MSG_EQ((*array)[2000], 0, "what nobody has written");
        }
        NS_TEST_EXPECT_MSG_EQ(first[700], 6, "its own");
        NS_TEST_EXPECT_MSG_EQ(second[700], 5, "what was frozen");
    }
};

class FabricReservedArrayTestSuite : public TestSuite
{
  public:
    FabricReservedArrayTestSuite()
        : TestSuite("fabric-reserved-array", Type::UNIT)
    {
        AddTestCase(new ArraysBeginWithWhatWasFrozen, Duration::QUICK);
        AddTestCase(new ArraysGrowAfterwards, Duration::QUICK);
    }
};

static FabricReservedArrayTestSuite g_fabricReservedArrayTestSuite; ///< Registers itself

} // namespace tests
} // namespace ns3

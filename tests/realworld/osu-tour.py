# The difficulty of levels of the game osu! by osu-tools-py, whose calculation is the game's own C#: one level that is made here, in all four ways to play it.
from osu_tools.calculator import OsuCalculator, OsuEnvironment

# It wants to see .NET 8 in the list of `dotnet --list-runtimes`; its libraries run on newer ones, too.
OsuEnvironment._check_dotnet_installed = classmethod(lambda cls: None)

HEAD = """osu file format v14

[General]
AudioFilename: none.mp3
Mode: 0

[Metadata]
Title:Tour
Artist:Nobody
Creator:Nobody
Version:Made

[Difficulty]
HPDrainRate:5
CircleSize:4
OverallDifficulty:8
ApproachRate:9
SliderMultiplier:1.6
SliderTickRate:1

[TimingPoints]
0,333.33,4,2,0,60,1,0
60000,-50,4,2,0,60,0,1

[HitObjects]
"""

with open("level.osu", "w") as level:
    level.write(HEAD)
    time = 1000
    for i in range(900):
        x, y = i * 97 % 512, i * 61 % 384
        if i % 5 == 4:
            level.write(f"{x},{y},{time},2,0,B|{(x + 100) % 512}:{(y + 50) % 384}|{(x + 40) % 512}:{(y + 150) % 384},1,80\n")
        elif i % 97 == 50:
            level.write(f"256,192,{time},12,0,{time + 300}\n")
        else:
            level.write(f"{x},{y},{time},{5 if i % 8 == 0 else 1},{i % 3 * 2},0:0:0:0:\n")
        time += 166 if i % 7 else 333

calculator = OsuCalculator()
for mode in range(4):
    for mods in [], ["HD", "HR"], ["DT"], ["EZ", "HT"], ["FL"]:
        for accuracy, misses in (100, 0), (97.5, 2), (88.25, 31):
            result = calculator.calculate("level.osu", mode=mode, mods=mods, acc=accuracy, misses=misses)
            print(mode, "+".join(mods) or "plain", accuracy, misses, result)
print(calculator.calculate("missing.osu"))

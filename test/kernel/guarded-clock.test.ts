import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { guardClock, type Machine } from "../../server/kernel/guarded-clock.ts";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const start = Date.parse("2026-11-21T10:00:00.000Z");

/** A machine whose clock can be set, and that can be left running or switched off. */
function machineAt(wall: number) {
  let [clock, running, boots] = [wall, 7 * day, 1];
  const machine: Machine = { now: () => clock, uptime: () => running, boot: () => `boot ${boots}` };
  return {
    machine,
    runs(ms: number) {
      clock += ms;
      running += ms;
    },
    set(by: number) {
      clock += by;
    },
    isOff(ms: number) {
      clock += ms;
      running = 0;
      boots += 1;
    },
  };
}

function begun() {
  const one = machineAt(start);
  const clock = guardClock(one.machine);
  clock.begin(undefined, false);
  return { ...one, clock };
}
/** What a new process makes of it, behind the last look of the one before. */
const again = (machine: Machine, from: ReturnType<typeof guardClock>, between = () => {}) => {
  const { mark, doubt } = from.look();
  between();
  const next = guardClock(machine);
  next.begin(mark, doubt !== null);
  return next;
};

describe("a clock under guard", () => {
  test("follows a machine that runs, however long nobody looks", () => {
    const { clock, runs } = begun();
    runs(400 * day);
    expect([clock.now(), clock.doubt()]).toEqual([start + 400 * day, null]);
  });

  test("follows small steps ahead, and stands still for small steps back", () => {
    const { clock, runs, set } = begun();
    set(2 * hour);
    expect([clock.now(), clock.doubt()]).toEqual([start + 2 * hour, null]);
    expect(clock.look().step).toBe(2 * hour);
    set(-4 * minute);
    expect([clock.now(), clock.doubt()]).toEqual([start + 2 * hour, null]);
    runs(3 * minute);
    expect(clock.now()).toBe(start + 2 * hour);
    runs(3 * minute);
    expect(clock.now()).toBe(start + 2 * hour + 2 * minute);
  });

  test.each([
    ["ten years ahead", 3653 * day],
    ["25 hours ahead", 25 * hour],
    ["ten minutes back", -10 * minute],
    ["thirty years back", -10957 * day],
  ])("set %s, it is in doubt and goes on by itself until the machine is right", (_, by) => {
    const { clock, runs, set } = begun();
    runs(minute);
    expect(clock.doubt()).toBeNull();
    set(by);
    runs(minute);
    const doubt = { machine: new Date(start + by + 2 * minute).toISOString(), expected: "2026-11-21T10:02:00.000Z" };
    expect([clock.doubt(), clock.now()]).toEqual([doubt, start + 2 * minute]);
    runs(hour);
    expect([clock.look().doubt === null, clock.now()]).toEqual([false, start + hour + 2 * minute]);
    set(-by);
    runs(minute);
    expect([clock.doubt(), clock.now()]).toEqual([null, start + hour + 3 * minute]);
  });

  test("accepted, the machine is followed", () => {
    const { clock, runs, set } = begun();
    set(100 * day);
    expect(clock.doubt()).not.toBeNull();
    clock.accept();
    runs(minute);
    expect([clock.doubt(), clock.now()]).toEqual([null, start + 100 * day + minute]);
  });

  test("a restart of the process changes nothing of that", () => {
    const { machine, clock, runs, set } = begun();
    runs(40 * day);
    const second = again(machine, clock);
    expect([second.doubt(), second.now()]).toEqual([null, start + 40 * day]);
    // The process was away, the machine was not.
    runs(60 * day);
    set(2 * day);
    const third = again(machine, second);
    expect(third.doubt()).not.toBeNull();
    runs(minute);
    const fourth = again(machine, third);
    expect([fourth.doubt() === null, fourth.now()]).toEqual([false, third.now()]);
    set(-2 * day);
    expect([fourth.doubt(), fourth.now()]).toEqual([null, start + 100 * day + minute]);
  });

  test("a machine that was off for up to 30 days is believed, one that was off for longer or comes back earlier is not", () => {
    const { machine, clock, isOff } = begun();
    const second = again(machine, clock, () => isOff(29 * day));
    expect([second.doubt(), second.now()]).toEqual([null, start + 29 * day]);
    expect(again(machine, second, () => isOff(31 * day)).doubt()).not.toBeNull();
    const other = begun();
    expect(again(other.machine, other.clock, () => other.isOff(-hour)).doubt()).not.toBeNull();
  });

  test("what was in doubt is not believed because the machine was switched off", () => {
    const { machine, clock, isOff, set } = begun();
    set(5 * day);
    expect(clock.doubt()).not.toBeNull();
    expect(again(machine, clock, () => isOff(hour)).doubt()).not.toBeNull();
  });

  test("whatever is done to the machine, time never goes back and never runs ahead of it by more than a step", () => {
    const act = fc.oneof(
      fc.record({ runs: fc.nat(3 * day) }),
      fc.record({ set: fc.integer({ min: -40 * day, max: 40 * day }) }),
      fc.record({ set: fc.integer({ min: -10 * minute, max: 10 * minute }) }),
      fc.constant({ look: true }),
      fc.constant({ restart: true }),
    );
    fc.assert(
      fc.property(fc.array(act, { maxLength: 40 }), (acts) => {
        const { machine, clock: first, runs, set } = begun();
        let [clock, told] = [first, start];
        for (const one of acts) {
          if ("runs" in one) runs(one.runs);
          else if ("set" in one) set(one.set);
          else if ("look" in one) clock.look();
          else clock = again(machine, clock);
          const now = clock.now();
          expect(now).toBeGreaterThanOrEqual(told);
          if (clock.doubt() === null) expect(now - machine.now()).toBeLessThanOrEqual(5 * minute + day);
          told = now;
        }
      }),
    );
  });
});

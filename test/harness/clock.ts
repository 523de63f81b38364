import { type Clock, toTs } from "../../server/kernel/clock.ts";

type MovableClock = Clock & { advance(ms: number): void };

const usualStart = "2026-11-21T10:00:00.000Z";

/** A clock that stands until the test moves it. */
export function movableClock(start = usualStart): MovableClock {
  let ms = Date.parse(start);
  return {
    now: () => ms,
    ts: () => toTs(ms),
    advance(by) {
      ms += by;
    },
  };
}

/** The system's clock, moved forward at will. */
export function shiftingClock(): Clock & { shift(ms: number): void } {
  let offset = 0;
  const now = () => Date.now() + offset;
  return {
    now,
    ts: () => toTs(now()),
    shift(ms) {
      offset += ms;
    },
  };
}

/**
 * A clock that goes on by a millisecond with every reading, as a busy machine's does between two lines: whoever reads it
 * twice for one moment gets two. Otherwise it stands until the test moves it.
 */
export function tickingClock(start = usualStart): MovableClock {
  let ms = Date.parse(start);
  const now = () => {
    ms += 1;
    return ms;
  };
  return {
    now,
    ts: () => toTs(now()),
    advance(by) {
      ms += by;
    },
  };
}

/** Steps that follow each other, each with its time. The first that fails ends the run: the next would stand on it. */

let passed = 0;

export async function step<T>(name: string, work: () => Promise<T>): Promise<T> {
  const started = performance.now();
  const seconds = () => `${((performance.now() - started) / 1000).toFixed(1)} s`.padStart(8);
  try {
    const value = await work();
    passed += 1;
    console.log(`${seconds()}  ${name}`);
    return value;
  } catch (error) {
    console.log(`${seconds()}  FAILED: ${name}`);
    throw error;
  }
}

export const passedSteps = (): number => passed;

/** @throws Error with both when they differ */
export function equal(actual: unknown, expected: unknown, what: string): void {
  const [found, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (found !== wanted) throw new Error(`${what}: ${found} instead of ${wanted}`);
}

/** @throws Error with the text when it does not hold what is looked for */
export function holds(text: string, pattern: RegExp, what: string): void {
  if (!pattern.test(text)) throw new Error(`${what}: ${pattern} is not in ${text.slice(-1000)}`);
}

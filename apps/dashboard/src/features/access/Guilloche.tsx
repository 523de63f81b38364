/** The engine-turned rosette of banknotes and certificates: what a seal has always looked like. */

const turns = 240;

/** One closed line of the rosette: a circle whose radius swings `petals` times. */
function line(radius: number, swing: number, petals: number, phase: number): string {
  const points = Array.from({ length: turns + 1 }, (_, step) => {
    const angle = (step / turns) * 2 * Math.PI;
    const reach = radius + swing * Math.cos(petals * angle + phase);
    return `${(reach * Math.cos(angle)).toFixed(1)} ${(reach * Math.sin(angle)).toFixed(1)}`;
  });
  return `M${points.join("L")}Z`;
}

const lines = [
  ...Array.from({ length: 14 }, (_, at) => line(300, 62, 12, (at / 14) * 2 * Math.PI)),
  ...Array.from({ length: 10 }, (_, at) => line(170, 40, 9, (at / 10) * 2 * Math.PI)),
  ...Array.from({ length: 8 }, (_, at) => line(72, 26, 7, (at / 8) * 2 * Math.PI)),
].join("");

export function Guilloche() {
  return (
    <svg
      className="guilloche"
      viewBox="-400 -400 800 800"
      fill="none"
      stroke="currentColor"
      strokeWidth="0.8"
      aria-hidden="true"
    >
      <path d={lines} />
    </svg>
  );
}

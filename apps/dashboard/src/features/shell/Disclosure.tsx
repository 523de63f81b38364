import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";

type Props = {
  className: string;
  /** What the button shows. */
  face: ReactNode;
  /** Which side of the button the panel opens to. */
  side: "above" | "below";
  label: string;
  children: (close: () => void) => ReactNode;
};

/**
 * A button that opens a panel of links, choices and buttons beside it. Escape, a press outside and leaving it close it; Escape
 * brings the focus back. Arrow keys go through what can be reached, as Tab does.
 */
export function Disclosure({ className, face, side, label, children }: Props) {
  const id = useId();
  const [opened, setOpened] = useState(false);
  const place = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const close = () => {
    setOpened(false);
    button.current?.focus();
  };

  useEffect(() => {
    if (!opened) return;
    place.current?.querySelector<HTMLElement>("[data-autofocus], .disclosure-panel :is(a, button, input)")?.focus();
    const outside = (event: Event) => {
      if (event.target instanceof Node && !place.current?.contains(event.target)) setOpened(false);
    };
    document.addEventListener("pointerdown", outside);
    document.addEventListener("focusin", outside);
    return () => {
      document.removeEventListener("pointerdown", outside);
      document.removeEventListener("focusin", outside);
    };
  }, [opened]);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape" && opened) {
      // Not the drawer around it as well.
      event.stopPropagation();
      return close();
    }
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    // Radios and their like have arrow keys of their own.
    if (step === 0 || !opened || (event.target instanceof HTMLInputElement && event.target.type === "radio")) return;
    const stops = [
      ...(place.current?.querySelectorAll<HTMLElement>(
        ".disclosure-panel :is(a, button, input:not([type='radio']), input[type='radio']:checked)",
      ) ?? []),
    ];
    event.preventDefault();
    const { activeElement } = document;
    const at = activeElement instanceof HTMLElement ? stops.indexOf(activeElement) : -1;
    stops.at((at + step + stops.length) % stops.length)?.focus();
  };

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys belong to the controls inside
    <div ref={place} className="disclosure" onKeyDown={onKeyDown}>
      <button
        ref={button}
        type="button"
        className={className}
        aria-expanded={opened}
        aria-controls={opened ? id : undefined}
        onClick={() => setOpened(!opened)}
      >
        {face}
      </button>
      {opened && (
        <section id={id} className="disclosure-panel" data-side={side} aria-label={label}>
          {children(close)}
        </section>
      )}
    </div>
  );
}

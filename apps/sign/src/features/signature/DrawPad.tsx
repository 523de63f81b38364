import { Button } from "@mantine/core";
import { type Ref, useEffect, useImperativeHandle, useRef } from "react";
import SignaturePad from "signature_pad";
import { translator } from "../../../../shared/i18n.ts";
import { inkOf } from "./image.ts";

export type Pad = { image(): string | null };

/** A line to sign on with finger, pen or mouse. */
export function DrawPad({ ref, onEmpty }: { ref: Ref<Pad>; onEmpty: (empty: boolean) => void }) {
  const t = translator("sign");
  const canvas = useRef<HTMLCanvasElement>(null);
  const pad = useRef<SignaturePad>(null);
  const report = useRef(onEmpty);
  report.current = onEmpty;
  useImperativeHandle(ref, () => ({ image: () => (canvas.current ? inkOf(canvas.current) : null) }));
  useEffect(() => {
    const surface = canvas.current;
    if (!surface) return;
    const drawing = new SignaturePad(surface, { penColor: "#10233f", minWidth: 0.9, maxWidth: 2.8 });
    pad.current = drawing;
    drawing.addEventListener("endStroke", () => report.current(drawing.isEmpty()));
    const resize = () => {
      const strokes = drawing.toData();
      const ratio = Math.max(window.devicePixelRatio || 1, 2);
      surface.width = surface.offsetWidth * ratio;
      surface.height = surface.offsetHeight * ratio;
      surface.getContext("2d")?.scale(ratio, ratio);
      drawing.clear();
      drawing.fromData(strokes);
    };
    resize();
    const observer = new ResizeObserver(resize);
    observer.observe(surface);
    return () => {
      observer.disconnect();
      drawing.off();
    };
  }, []);
  const clear = () => {
    pad.current?.clear();
    onEmpty(true);
  };
  return (
    <div className="draw">
      <canvas ref={canvas} role="img" aria-label={t("signature.drawHere")} />
      <span className="draw-line" aria-hidden="true" />
      <p className="fine">{t("signature.drawHint")}</p>
      <Button variant="subtle" size="compact-sm" onClick={clear}>
        {t("signature.clear")}
      </Button>
    </div>
  );
}

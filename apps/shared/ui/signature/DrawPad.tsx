import { Button } from "@mantine/core";
import { type Ref, type RefObject, useEffect, useImperativeHandle, useRef } from "react";
import SignaturePad, { type PointGroup } from "signature_pad";
import { translator } from "../../i18n.ts";
import { inkOf } from "./image.ts";

export type Pad = { image(): string | null };

export type Strokes = PointGroup[];
type Props = {
  ref: Ref<Pad>;
  /** What was drawn so far: it outlives a look at the other ways to sign. */
  strokes: RefObject<Strokes>;
  onEmpty: (empty: boolean) => void;
};

/** A line to sign on with finger, pen or mouse. */
export function DrawPad({ ref, strokes, onEmpty }: Props) {
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
    drawing.addEventListener("endStroke", () => {
      strokes.current = drawing.toData();
      report.current(drawing.isEmpty());
    });
    const resize = () => {
      const ratio = Math.max(window.devicePixelRatio || 1, 2);
      surface.width = surface.offsetWidth * ratio;
      surface.height = surface.offsetHeight * ratio;
      surface.getContext("2d")?.scale(ratio, ratio);
      drawing.clear();
      drawing.fromData(strokes.current);
    };
    resize();
    const observer = new ResizeObserver(resize);
    observer.observe(surface);
    return () => {
      observer.disconnect();
      drawing.off();
    };
  }, [strokes]);
  const clear = () => {
    strokes.current = [];
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

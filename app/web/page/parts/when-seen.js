/** Content that is made once its place has been in the window for a moment: what nobody looks at costs no predictions. */

import { useEffect, useRef, useState } from "../vendor/hooks.js";
import { html } from "../html.js";

/** Longer than what is above takes to be drawn, and than a place is in the window while it is scrolled past. */
const MOMENT = 400;

/** @param {{ children?: unknown }} props */
export function WhenSeen({ children }) {
  const [isSeen, setSeen] = useState(false);
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    const see = () => setSeen(true);
    let timer = 0;
    const observer = new IntersectionObserver((entries) => {
      clearTimeout(timer);
      if (entries[entries.length - 1].isIntersecting) timer = setTimeout(see, MOMENT);
    });
    if (place.current) observer.observe(place.current);
    addEventListener("beforeprint", see);
    return () => {
      clearTimeout(timer);
      observer.disconnect();
      removeEventListener("beforeprint", see);
    };
  }, []);
  return isSeen ? children : html`<div class="unseen" ref=${place}></div>`;
}

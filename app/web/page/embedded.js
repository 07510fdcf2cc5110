/** What a report has within itself in place of a service: the responses to the requests of its view. */

/**
 * @typedef {{ label: any, values: number[] }} ClassLine
 * @typedef {{ input: string, kind: string, values: any[], middle: any, figures: Record<string, number[]>, classes: ClassLine[] }} Slice
 * @typedef {{ model: string, version: number, service: string, origin: any, slices: Slice[], surface?: any, image?: string, original?: string, components?: any[], effects?: { rows: number, profiles: any[] }, responses: Record<string, any> }} Embedded
 */

const element = document.getElementById("embedded");

/** Null in the page of a service. */
export const embedded = /** @type {Embedded | null} */ (element && JSON.parse(element.textContent));

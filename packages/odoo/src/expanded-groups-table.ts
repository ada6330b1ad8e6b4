/**
 * Fields of Odoo Community 14, 15, 16, 17, 18, 19 by which a lazy `read_group` lists all related records.
 * Written by scripts/odoo-tables/expanded_groups.py.
 */
export const EXPANDED_GROUPS = `
crm.lead stage_id
crm.team.member crm_team_id
event.event stage_id
event.track stage_id
fleet.vehicle state_id
hr.applicant stage_id
hr.attendance employee_id
maintenance.equipment category_id
maintenance.request stage_id
mrp.workorder workcenter_id
product.template categ_id
project.project stage_id
project.task personal_stage_id personal_stage_type_id personal_stage_type_ids sale_order_id stage_id
res.partner grade_id
stock.lot location_id
utm.campaign stage_id
`;

module gossamer-lab-ring

go 1.20
